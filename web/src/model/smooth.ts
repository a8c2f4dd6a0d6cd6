import type { Numbers } from './figure';

// The mean over each point and up to `reach` on either side; gaps stay.
export function smoothed(y: Numbers, reach: number): Numbers {
  if (reach <= 0) return y;
  const sums = new Float64Array(y.length + 1);
  const counts = new Uint32Array(y.length + 1);
  y.forEach((value, i) => {
    sums[i + 1] = (sums[i] as number) + (value ?? 0);
    counts[i + 1] = (counts[i] as number) + (value === null ? 0 : 1);
  });
  return y.map((value, i) => {
    if (value === null) return null;
    // As far to the one side as to the other, so that ends are not pulled.
    const half = Math.min(reach, i, y.length - 1 - i);
    const count = (counts[i + half + 1] as number) - (counts[i - half] as number);
    return ((sums[i + half + 1] as number) - (sums[i - half] as number)) / count;
  });
}
