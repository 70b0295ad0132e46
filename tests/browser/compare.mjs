// compare.mjs --pictures FOLDER REPORT.html COMPARISON.json …: opens each report of `msprof compare
// --html` from disk, without a network, in light and dark, on a desktop and a phone, with and
// without its script; checks that it shows the values of the JSON of the same comparison. Saves
// screenshots. Exit code 1 if a check failed. Used by scripts/test-browser.
import { basename, join } from 'node:path';
import { printedHeads } from './pages.mjs';
import { check, checkLooks, checkPages, checkPlain } from './reports.mjs';

const mostRows = 1000; // maximum per table

const shownBy = (page) => page.evaluate(() => {
  const rows = (id) => [...document.querySelectorAll(`#${id} tbody tr`)].map((row) => ({
    kind: row.className, cells: [...row.cells].map((cell) => cell.textContent),
  }));
  const bars = (id) => [...document.querySelectorAll(`#${id} li`)].map((row) => ({
    label: row.querySelector('.label').textContent,
    value: row.querySelector('.value').textContent,
    rects: [...row.querySelectorAll('rect:not(.band)')].map((rect) => ({
      kind: rect.getAttribute('class'), width: rect.getBoundingClientRect().width,
    })),
  }));
  return {
    verdict: document.querySelector('#verdict').className,
    warnings: document.querySelectorAll('#warnings li').length,
    ops: rows('ops'), types: rows('types'), calls: rows('calls'), ratios: rows('ratios'),
    totals: bars('totals'), byOp: bars('by-op'), byType: bars('by-type'),
  };
});

const kindOf = (change) => (change.is_noise || change.delta_us === 0 ? 'noise'
  : change.delta_us < 0 ? 'faster' : 'slower');
const three = (value) => (value === null ? '-' : value.toFixed(3));

function opName(op) {
  const [base, now] = [op.base_names.join('+'), op.new_names.join('+')];
  return base && now && base !== now ? `${base} → ${now}` : base || now;
}

// The first row that differs from its `change`, or ''.
function firstOther(changes, rows, nameOf) {
  const shown = changes.slice(0, mostRows);
  if (shown.length !== rows.length) return `${changes.length} in the JSON, ${rows.length} rows`;
  for (const [i, change] of shown.entries()) {
    const [name, base, now, delta] = rows[i].cells;
    const says = [name, rows[i].kind, base, now].join('|');
    const wanted = [nameOf(change), kindOf(change), three(change.base_us), three(change.new_us)].join('|');
    if (says !== wanted) return `'${wanted}' is '${says}'`;
    if (Math.abs(Number(delta) - change.delta_us) > 6e-4) return `${name}: ${delta}, not ${change.delta_us}`;
  }
  return '';
}

// Checks the bars of changes beyond noise: which there are, their relative lengths, and their
// colours.
function checkBars(shown, changes, nameOf, what) {
  const changed = changes.filter((change) => !change.is_noise).slice(0, 15);
  const bars = shown.filter((bar) => bar.rects.length === 1);
  const other = changed.findIndex((change, i) => nameOf(change) !== bars[i]?.label
    || kindOf(change) !== bars[i].rects[0].kind);
  check(other < 0, `${what}: ${changed.length} bars with names and colours of the JSON`
    + (other < 0 ? '' : `; but bar ${other} is ${JSON.stringify(bars[other])}`));
  const [first] = changed;
  const odd = changed.findIndex((change, i) => {
    const wanted = Math.abs(change.delta_us / first.delta_us) * bars[0].rects[0].width;
    return Math.abs(bars[i].rects[0].width - wanted) > 2.5;
  });
  check(odd < 0, `${what}: lengths are in proportion ${odd < 0 ? '' : `but that of bar ${odd}`}`);
}

function checkShown(shown, wanted) {
  check(shown.verdict === wanted.verdict, `verdict: ${shown.verdict}`);
  check(shown.warnings === wanted.warnings.length, `${shown.warnings} warnings`);
  const nothing = (other) => other || 'as in the JSON';
  for (const [what, changes, nameOf] of [['ops', wanted.ops, opName],
    ['types', wanted.types, (type) => type.type ?? '-'], ['calls', wanted.calls, (call) => call.name]]) {
    const other = firstOther(changes, shown[what], nameOf);
    check(!other, `${shown[what].length} rows of ${what}: ${nothing(other)}`);
  }
  const ratios = wanted.ops.reduce((sum, op) => sum + op.ratios.length, 0);
  check(shown.ratios.length === ratios, `${ratios} ratios`);
  checkBars(shown.byOp.slice(1, -1), wanted.ops, opName, 'picture of operators');
  checkBars(shown.byType.slice(1, -1), wanted.types, (type) => type.type ?? '-', 'picture of types');
  const [base, now] = shown.totals.map((bar) => bar.rects[0].width);
  check(Math.abs(now / base - wanted.total.new_us / wanted.total.base_us) < 0.01, 'lengths of the totals');
}

// Checks sorting, hiding and colours, operated by keyboard.
async function checkScript(page, wanted) {
  const column = (index) => page.$$eval('#ops tbody tr:not([hidden])',
    (rows, i) => rows.map((row) => Number(row.cells[i].textContent)).filter((x) => !Number.isNaN(x)), index);
  await page.focus('#ops thead th:nth-child(2) button');
  await page.keyboard.press('Enter');
  const down = await column(1);
  check(down.length > 0 && down.every((x, i) => i === 0 || x <= down[i - 1]), 'a key press sorts by base time');
  await page.keyboard.press('Enter');
  const up = await column(1);
  check(up.every((x, i) => i === 0 || x >= up[i - 1]), 'another one the other way round');
  await page.check('#hide-noise');
  const left = await page.$$eval('#ops tbody tr:not([hidden])', (rows) => rows.length);
  check(left === Math.min(50, wanted.ops.filter((op) => kindOf(op) !== 'noise').length), `${left} rows beyond noise`);
  const before = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.click('#theme');
  const after = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  check(before !== after, `the button changes the colours: ${before}, ${after}`);
}

await checkPages('reports', async (browser, file, wanted, pictures) => {
  const name = basename(file, '.html');
  await checkLooks(browser, file, pictures, name, async (page, colorScheme, device) => {
    if (device !== 'desktop') return;
    if (colorScheme === 'light') checkShown(await shownBy(page), wanted);
    await checkScript(page, wanted);
    const paper = await printedHeads(page, join(pictures, `${name}.pdf`));
    check(paper.sheets > 0 && paper.withHeads === paper.sheets,
      `on paper: ${paper.sheets} sheets with operators, ${paper.withHeads} with the heads of their columns`);
  });
  await checkPlain(browser, file, async (page) => {
    const dead = await page.locator('button:visible, input:visible').count();
    const rows = await page.locator('#ops tbody tr:visible').count();
    check(dead === 0 && rows === Math.min(mostRows, wanted.ops.length), `without script: ${rows} rows, no dead button`);
  });
});
