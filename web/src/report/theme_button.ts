import { applyTheme, chosenTheme, nextTheme } from '../state/theme';

// Light, dark, or as the system is: a report from disk follows the system until somebody says otherwise.
export function addThemeButton(): void {
  let theme = chosenTheme();
  applyTheme(theme);
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'theme';
  button.textContent = '\u25d0';
  const tell = (): void => button.setAttribute('aria-label', `colors: ${theme === 'system' ? 'as the system' : theme}`);
  tell();
  button.addEventListener('click', () => {
    theme = nextTheme(theme);
    applyTheme(theme);
    tell();
  });
  document.querySelector('main')?.prepend(button);
}
