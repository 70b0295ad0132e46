// report.mjs --pictures FOLDER REPORT.html …: opens each page of `msprof report` from disk, without
// a network, in light and dark, at two widths, with and without its scripts, and in print; checks
// that it shows its picture and tables, zooms and sorts. Saves screenshots. Exit code 1 if a check
// failed. Used by scripts/test-browser.
import { mkdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { contrastsOf } from './contrast.mjs';
import { launchBrowser, openReport, printedHeads } from './pages.mjs';

let failures = 0;
function check(holds, what) {
  if (!holds) ++failures;
  console.log(`  ${holds ? 'ok    ' : 'FAILED'} ${what}`);
}

const sizes = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };
const leastContrast = 4.5; // WCAG 2, 1.4.3
const mostBytes = 2_000_000;

const shownBy = (page) => page.evaluate(() => {
  const data = JSON.parse(document.getElementById('timeline-data')?.textContent ?? '{"lanes":[]}');
  return {
    slices: data.lanes.reduce((sum, lane) => sum + lane.slices.length / 4, 0),
    lanes: [...document.querySelectorAll('#timeline text.lane')].map((text) => text.textContent),
    wanted: data.lanes.map((lane) => lane.name),
    rects: document.querySelectorAll('#timeline rect').length,
    paths: [...document.querySelectorAll('#timeline path')]
      .reduce((sum, path) => sum + path.getAttribute('d').split('M').length - 1, 0),
    rows: [...document.querySelectorAll('#ops tbody tr')].filter((row) => row.getClientRects().length).length,
    allRows: document.querySelectorAll('#ops tbody tr').length,
    isZoomable: document.getElementById('zoom')?.getClientRects().length > 0,
    sections: [...document.querySelectorAll('h2')].map((head) => head.textContent),
    scrollsSideways: document.documentElement.scrollWidth > document.documentElement.clientWidth,
  };
});

async function checkZoom(page) {
  const drawn = () => page.$eval('#drawn', (group) => group.innerHTML);
  const ticks = () => page.$$eval('#timeline text.tick', (texts) => texts.map((text) => text.textContent));
  const whole = await drawn();
  const wide = await ticks();
  await page.focus('#picture');
  await page.keyboard.press('+');
  await page.keyboard.press('+');
  check(JSON.stringify(await ticks()) !== JSON.stringify(wide), 'a key zooms');
  check(await page.$$eval('#timeline rect', (all) => all.every((one) => Number(one.getAttribute('width')) > 0)),
    'what is zoomed has widths');
  await page.click('#zoom button[data-key="ArrowRight"]');
  await page.keyboard.press('0');
  await page.click('#zoom button[data-key="0"]');
  check(await drawn() === whole, 'and all of it comes back');
}

async function checkSort(page) {
  const names = () => page.$$eval('#ops tbody tr', (rows) => rows.map((row) => row.cells[0].textContent));
  const before = await names();
  if (before.length < 2) return;
  await page.focus('#ops thead th:first-child button');
  await page.keyboard.press('Enter');
  const after = await names();
  check(after.length === before.length && after.every((name, i) => i === 0
    || after[i - 1].localeCompare(name, 'en', { numeric: true }) <= 0), 'a key press sorts by name');
}

async function checkReport(browser, file, pictures) {
  console.log(file);
  check(statSync(file).size < mostBytes, `${statSync(file).size} bytes`);
  const stem = join(pictures, `report_${basename(dirname(file))}_${basename(file, '.html')}`);
  let without;
  for (const script of [false, true]) {
    for (const [device, viewport] of Object.entries(sizes)) {
      for (const colorScheme of ['light', 'dark']) {
        const { context, page, complaints, requests } = await openReport(browser, file,
          { viewport, colorScheme, javaScriptEnabled: script });
        // page.evaluate() works in both cases, since it is not a script of the page.
        const shown = await shownBy(page);
        const where = `${device}, ${colorScheme}, ${script ? 'with' : 'without'} scripts`;
        check(complaints.length === 0 && requests.length === 1, `${where}: alone and quiet ${complaints.join('; ')}`);
        check(!shown.scrollsSideways, `${where}: as wide as the window`);
        check(shown.isZoomable === (script && shown.slices > 0), `${where}: buttons that zoom`);
        const { least } = await contrastsOf(page);
        check(least.ratio >= leastContrast, `${where}: contrast at least ${least.ratio.toFixed(1)} ('${least.text}')`);
        if (!script) {
          without ??= shown;
          check(shown.rows === shown.allRows, `${where}: all ${shown.rows} rows are there`);
          check(JSON.stringify(shown.lanes) === JSON.stringify(shown.wanted), `${where}: ${shown.lanes.length} lanes`);
          check(shown.slices === 0 || shown.rects + shown.paths > 0, `${where}: ${shown.rects} + ${shown.paths} of ${shown.slices} slices drawn`);
        } else {
          check(JSON.stringify(shown.sections) === JSON.stringify(without.sections), `${where}: the same parts`);
          check(shown.rects === without.rects && shown.paths === without.paths, `${where}: the same picture`);
        }
        await page.screenshot({ path: `${stem}_${device}_${colorScheme}${script ? '' : '_no_script'}.png` });
        if (script && shown.slices > 0 && colorScheme === 'light') await checkZoom(page);
        if (script && colorScheme === 'dark') await checkSort(page);
        await context.close();
      }
    }
  }
  const { context, page } = await openReport(browser, file, { colorScheme: 'dark' });
  const paper = await printedHeads(page, `${stem}.pdf`);
  check(paper.sheets > 0 && paper.withHeads === paper.sheets,
    `on paper: ${paper.sheets} sheets with operators, ${paper.withHeads} with the heads of their columns`);
  await page.emulateMedia({ media: 'print' });
  check(await page.$eval('body', (body) => getComputedStyle(body).backgroundColor) === 'rgb(255, 255, 255)',
    'on paper: white, also where the screen is dark');
  check(await page.$$eval('.zoom, #theme', (all) => all.every((one) => one.getClientRects().length === 0)),
    'on paper: no buttons');
  await context.close();
}

const words = process.argv.slice(2);
const pictures = words[0] === '--pictures' ? words.splice(0, 2)[1] : '.';
mkdirSync(pictures, { recursive: true });
const browser = await launchBrowser();
try {
  for (const file of words) await checkReport(browser, resolve(file), pictures);
} finally {
  await browser.close();
}
console.log(failures === 0 ? `${words.length} reports: everything as it should be` : `${failures} checks FAILED`);
process.exitCode = failures === 0 && words.length > 0 ? 0 : 1;
