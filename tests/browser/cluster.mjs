// cluster.mjs --pictures FOLDER CLUSTER.html SHOWN.json …: opens each page of a cluster from disk,
// without a network, in light and dark, on a desktop and a phone, with and without its script;
// checks the map against the step trace beside the page, and what is chosen by mouse and keyboard.
// SHOWN.json is `msprof show --json` of the cluster. Exit code 1 when a check failed. For
// scripts/test-browser.
import { mkdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { contrastsOf } from './contrast.mjs';
import { launchBrowser, openReport } from './pages.mjs';

let failures = 0;
function check(holds, what) {
  if (!holds) ++failures;
  console.log(`  ${holds ? 'ok    ' : 'FAILED'} ${what}`);
}

const sizes = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };

// Times of ranks in steps out of the step trace: {"3/17": {computing, waiting, free}}, us.
function stepTrace(folder) {
  const file = join(folder, 'cluster_analysis_output', 'cluster_step_trace_time.csv');
  const rows = new Map();
  for (const line of readFileSync(file, 'utf8').split('\n').slice(1)) {
    const [step, type, rank, computing, waiting, , , free] = line.split(',');
    if (type === 'rank') rows.set(`${step}/${rank}`, { computing: Number(computing), waiting: Number(waiting), free: Number(free) });
  }
  return rows;
}

// Colours that a canvas shows, how many of each.
const coloursOf = (page, id) => page.evaluate((name) => {
  const canvas = document.getElementById(name);
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const colours = new Map();
  for (let i = 0; i < data.length; i += 4) {
    const colour = `${data[i]},${data[i + 1]},${data[i + 2]},${data[i + 3]}`;
    colours.set(colour, (colours.get(colour) ?? 0) + 1);
  }
  return [...colours.keys()];
}, id);

const told = (page) => page.textContent('#cell');
// "Rank 17 (node-2), step 3: 12.345 ms: computing …" as numbers.
function numbersOf(text) {
  const [, rank, step] = text.match(/^Rank (\d+) .*, step (\S+): /);
  const [, computing, waiting, free] = text.match(/computing ([\d.]+) ms, .* ([\d.]+) ms, free ([\d.]+) ms$/).map(Number);
  return { rank, step, computing, waiting, free };
}

function checkCell(text, trace, what) {
  const cell = numbersOf(text);
  const wanted = trace.get(`${cell.step}/${cell.rank}`);
  const isNear = wanted && ['computing', 'waiting', 'free'].every((part) => Math.abs(cell[part] * 1000 - wanted[part]) <= 1);
  check(isNear, `${what}: rank ${cell.rank} in step ${cell.step} as in the step trace`);
}

async function checkScript(page, trace) {
  checkCell(await told(page), trace, 'first');
  const box = await page.locator('#map').boundingBox();
  await page.locator('#map').click({ position: { x: 95, y: Math.min(box.height - 2, 25) } });
  checkCell(await told(page), trace, 'a click');
  const before = numbersOf(await told(page));
  await page.focus('#map-box');
  await page.keyboard.press('ArrowRight');
  const after = numbersOf(await told(page));
  checkCell(await told(page), trace, 'an arrow key');
  check(before.step !== after.step && before.rank === after.rank, `a key goes from step ${before.step} to ${after.step}`);
  check(await page.textContent('#step-name') === after.step, 'the ranks of that step are drawn');
  const scale = await page.textContent('#scale');
  await page.click('#choices button:nth-child(2)');
  check(scale !== await page.textContent('#scale'), 'a button changes what the colours mean');
  check((await coloursOf(page, 'map')).length > 3, 'the map has colours');
  check((await coloursOf(page, 'waterfall')).length > 3, 'the step has colours');
  const body = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.click('#theme');
  check(body !== await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'the button changes the colours');
}

async function checkPage(browser, file, shown, pictures) {
  console.log(file);
  const trace = stepTrace(dirname(file));
  for (const colorScheme of ['light', 'dark']) {
    for (const [device, viewport] of Object.entries(sizes)) {
      const report = await openReport(browser, file, { colorScheme, viewport });
      const { page } = report;
      const where = `${colorScheme}, ${device}`;
      const name = `${basename(dirname(file))}_cluster_${colorScheme}_${device}.png`;
      await page.screenshot({ path: join(pictures, name), fullPage: true });
      const contrasts = await contrastsOf(page);
      check(contrasts.texts > 50 && contrasts.least.ratio >= 4.5,
        `${where}: contrast of ${contrasts.texts} texts is ${contrasts.least.ratio.toFixed(2)} or more (${contrasts.least.text})`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      check(wide <= 0, `${where}: the page is as wide as the window`);
      await checkScript(page, trace);
      check(report.complaints.length === 0, `${where}: nothing in the console ${report.complaints.join('; ')}`);
      check(report.requests.length === 1, `${where}: no request but for the file ${report.requests.slice(1).join(' ')}`);
      await report.context.close();
    }
  }
  const plain = await openReport(browser, file, { javaScriptEnabled: false, viewport: sizes.desktop });
  const dead = await plain.page.locator('button:visible, canvas:visible').count();
  const found = await plain.page.locator('#findings > li strong').allTextContents();
  const wanted = shown.clusters[0].findings.map((finding) => finding.what);
  check(dead === 0, 'without script: no dead button, no empty picture');
  check(found.join('\n') === wanted.join('\n'), `${found.length} findings as \`msprof show\` has them`);
  const steps = await plain.page.locator('#steps tbody tr').count();
  check(steps === Math.min(30, shown.clusters[0].steps), `${steps} rows of steps`);
  await plain.context.close();
}

const words = process.argv.slice(2);
const pictures = words[0] === '--pictures' ? words.splice(0, 2)[1] : '.';
mkdirSync(pictures, { recursive: true });
const browser = await launchBrowser();
try {
  while (words.length > 0) {
    const [file, json] = words.splice(0, 2).map((word) => resolve(word));
    try {
      await checkPage(browser, file, JSON.parse(readFileSync(json)), pictures);
    } catch (error) {
      check(false, `${file}: ${error.message}`);
    }
  }
} finally {
  await browser.close();
}
console.log(failures === 0 ? 'clusters: everything as it should be' : `${failures} checks FAILED`);
process.exitCode = failures === 0 ? 0 : 1;
