// What keys do.
import { useEffect, useRef } from 'preact/hooks';
import type { JSX } from 'preact';

export const KEYS: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  ['Everywhere', [
    ['?', 'this help'], ['h', 'the list of runs and studies'], ['t', 'light, dark, or as the system is'], ['Esc', 'close the help; leave the filter'],
  ]],
  ['In the list', [
    ['/', 'write a filter'], ['j, k', 'next row, row before'], ['Enter', 'open the row, unfold the group'],
    ['x', 'choose the row for comparing'], ['c', 'compare what is chosen, else what is listed'],
  ]],
  ['In charts', [
    ['y', 'logarithmic y-axis'], ['l', 'logarithmic x-axis'], ['s', 'single seeds behind the medians'],
    ['m', 'set each run on its own moment'], ['u', 'x in steps, samples or time'], ['[, ]', 'less, more smoothing'], ['w', 'the whole axis again'],
  ]],
  ['With a chart in focus (Tab)', [
    ['\u2190, \u2192', 'move the reading line; with Shift: move what is zoomed to'], ['+, \u2212', 'zoom in at the reading line, zoom out'],
    ['Home, End', 'to the first and last x'], ['0', 'the whole axis again'],
  ]],
  ['With the mouse', [
    ['drag', 'zoom to a stretch, in all charts of the page'], ['double click', 'the whole axis again'],
    ['click in a legend', 'hide or show a curve; with Shift: it alone'],
  ]],
];

export function Help({ close }: { close(): void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog ref={dialog} class="help" aria-labelledby="help-title" onClose={close}
      onClick={(event) => { if (event.target === dialog.current) dialog.current?.close(); }}>
      <form method="dialog"><button type="submit">Close</button></form>
      <h2 id="help-title">Keys</h2>
      {KEYS.map(([title, keys]) => (
        <section key={title}>
          <h3>{title}</h3>
          <dl>{keys.map(([key, does]) => [<dt key={`${key}-key`}><kbd>{key}</kbd></dt>, <dd key={key}>{does}</dd>])}</dl>
        </section>
      ))}
      <p class="muted">The address in the address bar holds the view: send it, or keep it, to see the same again.</p>
    </dialog>
  );
}
