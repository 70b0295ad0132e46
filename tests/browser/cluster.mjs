// cluster.mjs --pictures FOLDER CLUSTER.html SHOWN.json …: opens each cluster page from disk,
// without a network, in light and dark, on a desktop and a phone, with and without its script;
// compares the map with the step trace next to the page, and checks selection by mouse and
// keyboard. SHOWN.json is `msprof show --json` of the cluster. Exit code 1 if a check failed. Used
// by scripts/test-browser.
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { check, checkLooks, checkPages, checkPlain } from './reports.mjs';

// Times of ranks per step from the step trace: {"3/17": {computing, waiting, free}}, us.
function stepTrace(folder) {
  const file = join(folder, 'cluster_analysis_output', 'cluster_step_trace_time.csv');
  const rows = new Map();
  for (const line of readFileSync(file, 'utf8').split('\n').slice(1)) {
    const [step, type, rank, computing, waiting, , , free] = line.split(',');
    if (type === 'rank') rows.set(`${step}/${rank}`, { computing: Number(computing), waiting: Number(waiting), free: Number(free) });
  }
  return rows;
}

// Counts the colours of a canvas.
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
// Parses the numbers of "Rank 17 (node-2), step 3: 12.345 ms: computing …".
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

await checkPages('clusters', async (browser, file, shown, pictures) => {
  const trace = stepTrace(dirname(file));
  const name = `${basename(dirname(file))}_cluster`;
  await checkLooks(browser, file, pictures, name, (page) => checkScript(page, trace));
  await checkPlain(browser, file, async (page) => {
    const dead = await page.locator('button:visible, canvas:visible').count();
    const found = await page.locator('#findings > li strong').allTextContents();
    const wanted = shown.clusters[0].findings.map((finding) => finding.what);
    check(dead === 0, 'without script: no dead button, no empty picture');
    check(found.join('\n') === wanted.join('\n'), `${found.length} findings as \`msprof show\` has them`);
    const steps = await page.locator('#steps tbody tr').count();
    check(steps === Math.min(30, shown.clusters[0].steps), `${steps} rows of steps`);
  });
});
