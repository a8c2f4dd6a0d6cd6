// Single keys, for those who do not reach for the mouse. views/help.tsx says what they do.
import { useEffect } from 'preact/hooks';

export interface Key {
  key: string;
  run(): void;
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.matches('input:not([type=checkbox]), select, textarea') || target.isContentEditable);

export function useKeys(keys: readonly Key[]): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (isTyping(event.target) && event.key !== 'Escape') return;
      const found = keys.find((one) => one.key === event.key);
      if (found === undefined) return;
      event.preventDefault();
      found.run();
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  });
}
