// Light, dark, or as the system is. Kept between visits where the browser allows it.

export type Theme = 'system' | 'light' | 'dark';
const KEY = 'eureka-theme';

export function chosenTheme(): Theme {
  try {
    const kept = localStorage.getItem(KEY);
    return kept === 'light' || kept === 'dark' ? kept : 'system';
  } catch {
    return 'system'; // a page from disk may have no storage
  }
}

export function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // It holds for this page then.
  }
  document.dispatchEvent(new Event('eureka-theme'));
}

const NEXT: Record<Theme, Theme> = { system: 'dark', dark: 'light', light: 'system' };
export const nextTheme = (theme: Theme): Theme => NEXT[theme];
