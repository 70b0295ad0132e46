// large.mjs MSPROF MAKE_PROF SCRATCH: a timeline of more than 2 GB. It is written whole and in
// chunks of 200 MB. Every chunk is a valid timeline, all chunks together equal the whole, and
// memory does not grow with the size. Used by scripts/test-browser --large.
import { spawn, execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { factsOfFile } from './large_file.mjs';
import { openBrowser, servePages } from './pages.mjs';
import { openInViewer } from './viewer.mjs';

const kTasks = 2_000_000;
const kWhole = 2_000_000_000;
const kPart = 200_000_000;
// docs/timelines.md: memory grows only by four bits per host call; a task has up to eight calls.
const kGrowthPerTaskBytes = 4;
// SQLite's page caches, 16 MiB per connection, are not yet full after a tenth of the run.
const kSlack = 24 << 20;

let failures = 0;
function check(holds, what) {
  if (!holds) ++failures;
  console.log(`${holds ? 'ok    ' : 'FAILED'} ${what}`);
}
const mb = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

// Runs a program; returns its peak memory in bytes.
async function peakOf(program, words) {
  const began = Date.now();
  const child = spawn(program, words, { stdio: ['ignore', 'inherit', 'inherit'] });
  let peak = 0;
  const watch = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      peak = Number(status.match(/VmHWM:\s+(\d+)/)?.[1] ?? 0) * 1024 || peak;
    } catch { /* it has just ended */ }
  }, 20);
  const code = await new Promise((resolve) => child.on('exit', resolve));
  clearInterval(watch);
  if (code !== 0) throw new Error(`${program} ${words.join(' ')}: exit code ${code}`);
  console.log(`       ${words.slice(0, 2).join(' ')}: ${mb(peak)} at most, ${(Date.now() - began) / 1000} s`);
  return peak;
}

// Makes and imports a run of `tasks` tasks.
async function make(tasks) {
  const parent = join(scratch, String(tasks));
  const folder = execFileSync(makeProf, [parent, String(tasks)], { encoding: 'utf8' }).trim();
  await peakOf(msprof, ['import', '-q', '-dir', folder]);
  return folder;
}
const timelinesIn = (folder, pattern) => {
  const products = join(folder, 'mindstudio_profiler_output');
  return readdirSync(products).filter((name) => pattern.test(name)).sort()
    .map((name) => join(products, name));
};

async function checkParts(parts, whole) {
  const sum = { events: 0, kinds: new Map(), sum: 0, xor: 0 };
  for (const part of parts) {
    check(statSync(part).size <= kPart, `${basename(part)}: ${mb(statSync(part).size)}`);
    const facts = await factsOfFile(part);
    check(facts.metadata === whole.metadata, `${basename(part)}: valid JSON, all names`);
    for (const [kind, count] of facts.kinds) {
      sum.kinds.set(kind, (sum.kinds.get(kind) ?? 0) + count);
    }
    sum.events += facts.events;
    sum.sum = (sum.sum + facts.sum) >>> 0;
    sum.xor ^= facts.xor;
  }
  check(sum.events === whole.events, `events of all parts: ${sum.events}, of the whole: ${whole.events}`);
  for (const [kind, count] of whole.kinds) {
    check(sum.kinds.get(kind) === count, `${kind}: ${sum.kinds.get(kind) ?? 0} and ${count}`);
  }
  check(sum.sum === whole.sum && sum.xor === whole.xor, 'the events are the same');
}

async function openPart(part) {
  const wanted = await factsOfFile(part);
  const slices = [...wanted.kinds].filter(([kind]) => kind.startsWith('X '))
    .reduce((sum, [, count]) => sum + count, 0);
  const server = await servePages();
  const browser = await openBrowser();
  try {
    const shown = await openInViewer(browser, server, server.offer(part), false,
      join(scratch, '..', 'large_part.png'));
    const drawn = shown.processes.flatMap(({ threads }) => threads)
      .reduce((sum, thread) => sum + thread.slices, 0);
    check(drawn === slices, `${basename(part)} in the viewer: ${drawn} slices of ${slices}, ${shown.arrows} arrows`);
  } finally {
    await browser.close();
    server.close();
  }
}

const [msprof, makeProf, scratch] = process.argv.slice(2);
const tasks = Number(process.argv[5] ?? kTasks);
const small = await make(tasks / 10);
const tenthPeak = await peakOf(msprof, ['export', 'timeline', '-q', '-dir', small]);
const tenthSplit = await peakOf(msprof, ['export', 'timeline', '-q', '-dir', small, '--split', '20MB']);
rmSync(join(scratch, String(tasks / 10)), { recursive: true });

const folder = await make(tasks);
const wholePeak = await peakOf(msprof, ['export', 'timeline', '-q', '-dir', folder]);
const [file] = timelinesIn(folder, /^msprof_\d+\.json$/);
const bytes = statSync(file).size;
check(bytes > kWhole || tasks < kTasks, `${basename(file)}: ${mb(bytes)}`);
const whole = await factsOfFile(file);
console.log(`       ${whole.events} events, valid JSON`);
rmSync(file);
const splitPeak = await peakOf(msprof, ['export', 'timeline', '-q', '-dir', folder, '--split', '200MB']);
const parts = timelinesIn(folder, /^msprof_slice_\d+_\d+\.json$/);
check(parts.length > 1 && parts.length <= 2 * Math.ceil(bytes / kPart), `${parts.length} parts`);
await checkParts(parts, whole);

const allowed = kSlack + kGrowthPerTaskBytes * tasks;
check(wholePeak - tenthPeak <= allowed,
  `memory of a tenth and of the whole: ${mb(tenthPeak)}, ${mb(wholePeak)}; allowed: ${mb(allowed)} more`);
check(splitPeak - tenthSplit <= allowed, `the same in parts: ${mb(tenthSplit)}, ${mb(splitPeak)}`);
if (parts.length > 1) await openPart(parts[1]);
console.log(failures === 0 ? 'everything as it should be' : `${failures} checks FAILED`);
process.exitCode = failures === 0 ? 0 : 1;
