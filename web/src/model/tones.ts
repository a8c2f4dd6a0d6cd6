// The same group looks the same everywhere. The arms of a study come with their tones from the program; what is grouped
// here gets them by the same rule as ArmTones in C++: the baseline in ink, then seven colors, then other dashes.
import type { Dash, Tone } from './figure';

export const SERIES_COLORS = 7;
const DASHES: readonly Dash[] = ['solid', 'dashed', 'dotted', 'dash_dotted'];

export const MOMENT: Tone = { color: '--moment', dash: 'dotted', width: 1.8, opacity: 1 };
export const BASELINE: Tone = { color: '--ink', dash: 'solid', width: 2.4, opacity: 1 };
export const VALIDATION: Tone = { color: '--series-0', dash: 'solid', width: 2, opacity: 1 };
export const TRAINING: Tone = { color: '--series-4', dash: 'solid', width: 1, opacity: 1 };
export const WHOLE: Tone = { color: '--ink', dash: 'solid', width: 2, opacity: 1 };

export const seriesTone = (index: number): Tone => ({
  color: `--series-${index % SERIES_COLORS}`,
  dash: DASHES[Math.floor(index / SERIES_COLORS) % DASHES.length] ?? 'solid',
  width: 1.6,
  opacity: 1,
});

// Thin and pale: a single seed behind the median of its arm.
export const behind = (tone: Tone): Tone => ({ ...tone, width: 0.8, dash: 'solid', opacity: 0.55 });

export const dashPattern = (tone: Tone): number[] => {
  const unit = Math.max(1, tone.width);
  switch (tone.dash) {
    case 'dashed':
      return [5 * unit, 3 * unit];
    case 'dotted':
      return [1.2 * unit, 2.4 * unit];
    case 'dash_dotted':
      return [5 * unit, 2.4 * unit, 1.2 * unit, 2.4 * unit];
    default:
      return [];
  }
};

export class Tones {
  private readonly known = new Map<string, Tone>();
  private next = 0;

  constructor(baseline?: string) {
    if (baseline !== undefined) this.known.set(baseline, BASELINE);
  }

  set(name: string, tone: Tone): void {
    this.known.set(name, tone);
  }

  of(name: string): Tone {
    let tone = this.known.get(name);
    if (tone === undefined) {
      tone = seriesTone(this.next++);
      this.known.set(name, tone);
    }
    return tone;
  }
}

// Those of the arms of a study, also where only some of them are shown.
export function tonesOf(study: { baseline: string | null; arms: readonly string[] }): Tones {
  const tones = new Tones(study.baseline ?? undefined);
  study.arms.forEach((arm) => tones.of(arm));
  return tones;
}
