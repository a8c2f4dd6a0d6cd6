// Colors of the page (said once, in src/figure/palette.cpp, and here by the names of their CSS variables) for those who
// paint without CSS.

export type Resolve = (variable: string) => string;

export function pageColors(): Resolve {
  const style = getComputedStyle(document.documentElement);
  const known = new Map<string, string>();
  return (variable) => {
    if (!variable.startsWith('--')) return variable;
    let color = known.get(variable);
    if (color === undefined) {
      color = style.getPropertyValue(variable).trim() || '#808080';
      known.set(variable, color);
    }
    return color;
  };
}

const VARIABLES = ['--ink', '--muted', '--grid', '--paper', '--plateau', '--moment'];

// What is exported is on white paper, whatever the page is on.
export function paperColors(): Resolve {
  const root = document.documentElement;
  const chosen = root.dataset['theme'];
  root.dataset['theme'] = 'light';
  const resolve = pageColors();
  for (const variable of VARIABLES) resolve(variable);
  for (let i = 0; i < 7; ++i) resolve(`--series-${i}`);
  if (chosen === undefined) delete root.dataset['theme'];
  else root.dataset['theme'] = chosen;
  return resolve;
}
