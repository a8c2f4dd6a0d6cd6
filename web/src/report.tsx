// What a report gains where scripts run: figures that zoom, hide and show, and files of what is seen. Without it the
// page is complete and stands still; it is printed as it stands.
import { render } from 'preact';
import './style/report.css';
import { LiveFigure } from './report/live_figure';
import { MapSlider, mapsOf } from './report/map_slider';
import { pngButton } from './chart/download';
import { readFigures, seedsFor, type EmbeddedFigure } from './report/embedded';
import { addThemeButton } from './report/theme_button';

// The figure that stands below the title with this name.
function standingFigure(name: string): HTMLElement | null {
  const title = document.getElementById(name);
  const found = title?.closest('summary')?.nextElementSibling ?? title?.nextElementSibling;
  return found instanceof HTMLElement && found.tagName === 'FIGURE' ? found : null;
}

function whenNear(element: Element, act: () => void): void {
  const observer = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    act();
  }, { rootMargin: '600px' });
  observer.observe(element);
}

function enliven(figure: EmbeddedFigure, all: readonly EmbeddedFigure[]): void {
  const standing = standingFigure(figure.name);
  if (standing === null) return;
  const host = document.createElement('div');
  host.className = 'live';
  standing.prepend(host);
  whenNear(standing, () => render(<LiveFigure figure={figure} seeds={seedsFor(figure, all)} standing={standing} />, host));
}

function enlivenMaps(standing: HTMLElement): void {
  const maps = mapsOf(standing);
  if (maps === undefined) return;
  const host = document.createElement('div');
  host.className = 'slider';
  standing.querySelector('.links')?.before(host);
  render(<MapSlider maps={maps} />, host);
}

// Its SVG is in the page, behind a link.
function addPng(standing: HTMLElement): void {
  const link = standing.querySelector<HTMLAnchorElement>('.links a[download$=".svg"]');
  const svg = (): Promise<string> => Promise.resolve(decodeURIComponent((link?.getAttribute('href') ?? '').replace(/^[^,]*,/, '')));
  link?.after(pngButton(link.download.replace(/\.svg$/, ''), svg));
}

addThemeButton();
const figures = readFigures();
figures.forEach((figure) => enliven(figure, figures));
document.querySelectorAll<HTMLElement>('main figure').forEach((standing) => {
  enlivenMaps(standing);
  addPng(standing);
});
