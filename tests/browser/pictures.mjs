// pictures.mjs SHOW.txt TIMELINE.json FOLDER: draws FOLDER/show.png, text as shown by a terminal,
// and FOLDER/timeline.png, a part of the timeline in the viewer of chrome://tracing. Used by
// scripts/pictures.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openBrowser, servePages } from './pages.mjs';
import { loadInViewer } from './viewer.mjs';

const escaped = (text) => text.replace(/[&<>]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' }[c]));

async function drawTerminal(browser, text, picture) {
  const page = await browser.newPage();
  await page.setContent(`<!DOCTYPE html><meta charset="utf-8"><style>
    body { margin: 0; background: #1e1e1e; }
    pre { display: inline-block; margin: 0; padding: 14px 18px; color: #d4d4d4;
          font: 12px/16px 'DejaVu Sans Mono', monospace; }
    b { color: #7ec699; font-weight: normal; }
    i { color: #e6c07b; font-style: normal; }
    </style><pre id="screen"><b>$</b> msprof show --top 6\n${escaped(text)
    .replace(/^host runtime: .*$/m, '<i>$&</i>')}</pre>`);
  await page.locator('#screen').screenshot({ path: picture });
  await page.close();
}

// Runs in the page: zooms to the range in which the middle `tasks` device tasks start.
function zoom(tasks) {
  const { timelineView } = document.querySelector('x-profiling-view');
  const begins = Object.values(timelineView.model.processes)
    .filter((process) => process.name === 'Ascend Hardware')
    .flatMap((process) => Object.values(process.threads))
    .flatMap((thread) => thread.sliceGroup.slices.map((slice) => slice.start))
    .sort((a, b) => a - b);
  const first = Math.floor((begins.length - tasks) / 2);
  const { trackView } = timelineView;
  trackView.mouseModeSelector_.style.display = 'none';
  const { viewport } = trackView;
  const transform = new tr.ui.TimelineDisplayTransform();
  transform.xSetWorldBounds(begins[first], begins[first + tasks],
    viewport.modelTrackContainer_.canvas.clientWidth);
  viewport.setDisplayTransformImmediately(transform);
}

async function drawTimeline(browser, server, file, picture) {
  const page = await loadInViewer(browser, server, server.offer(file), false);
  await page.setViewportSize({ width: 1200, height: 850 });
  // Hides the viewer's message about the browser.
  const hide = page.getByText('Hide', { exact: true });
  if (await hide.count() > 0) await hide.first().click();
  await page.waitForTimeout(500);
  await page.evaluate(zoom, 18);
  await page.waitForTimeout(1500);
  // Crops the empty panes below and next to the tracks.
  await page.screenshot({ path: picture, clip: { x: 0, y: 0, width: 1174, height: 512 } });
  await page.close();
}

const [show, timeline, folder] = process.argv.slice(2);
const server = await servePages();
const browser = await openBrowser();
try {
  await drawTerminal(browser, readFileSync(show, 'utf8'), join(folder, 'show.png'));
  await drawTimeline(browser, server, timeline, join(folder, 'timeline.png'));
} finally {
  await browser.close();
  server.close();
}
