// run.mjs --pictures FOLDER [--against PEER.json] TIMELINE…: opens each timeline in the viewer of
// chrome://tracing and in speedscope and checks that they show the contents of the file. With
// --against, the timeline after it must cause fewer warnings in the viewer than PEER.json. Exit
// code 1 if a check failed. Used by scripts/test-browser.
import { mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { eventsOf, expectedOf } from './expected.mjs';
import { openBrowser, servePages } from './pages.mjs';
import { openInSpeedscope } from './speedscope.mjs';
import { openInViewer } from './viewer.mjs';

let failures = 0;
function check(holds, what) {
  if (!holds) ++failures;
  console.log(`  ${holds ? 'ok    ' : 'FAILED'} ${what}`);
}
const equal = (found, wanted, what) => check(found === wanted,
  found === wanted ? `${what}: ${found}` : `${what}: ${wanted} in the file, ${found} in the viewer`);

// Describes the first entry of `wanted` that differs in `found`.
function firstOther(wanted, found) {
  for (const [key, value] of wanted) {
    if (found.get(key) !== value) return `${key} is '${value}', the viewer says '${found.get(key)}'`;
  }
  return '';
}

function checkNames(wanted, shown) {
  const drawn = new Set([...wanted.lanes.keys()].map((lane) => Number(lane.split(' ')[0])));
  const names = new Map(shown.processes.map(({ pid, name }) => [pid, name]));
  const labels = new Map(shown.processes.map((process) => [process.pid, process.labels.join()]));
  check(wanted.names.size > 0 && [...drawn].every((pid) => wanted.names.get(pid)),
    'every process with slices has a name');
  const other = firstOther(wanted.names, names) || firstOther(wanted.labels, labels);
  check(!other, `names of ${names.size} processes, ${labels.size} labels ${other}`);

  const threads = new Map();
  const slices = new Map();
  for (const process of shown.processes) {
    for (const thread of process.threads) {
      threads.set(`${process.pid} ${thread.tid}`, thread.name);
      slices.set(`${process.pid} ${thread.tid}`, thread.slices);
    }
  }
  const named = new Map([...wanted.lanes.keys()].map((lane) => [lane, wanted.threads.get(lane)]));
  check([...named.values()].every(Boolean), 'every thread with slices has a name');
  const otherThread = firstOther(named, threads);
  check(!otherThread, `names of ${named.size} threads with slices ${otherThread}`);
  const otherCount = firstOther(wanted.lanes, slices);
  check(!otherCount, `slices of every thread ${otherCount}`);
  equal([...slices.values()].reduce((sum, count) => sum + count, 0), wanted.slices, 'slices');
}

function checkArrows(wanted, shown) {
  // The viewer holds microseconds since 1970 as doubles, in steps of 0.25 us, so an arrow end at
  // the edge of a slice can miss the slice. Only such arrows may be missing.
  const loose = shown.warningKinds
    .filter(([kind]) => /^flow_slice_(start|end)_error.*actual slice/.test(kind))
    .reduce((sum, [, count]) => sum + count, 0);
  const missing = wanted.arrows - shown.arrows;
  check(missing >= 0 && missing <= loose,
    `arrows: ${wanted.arrows} in the file, ${shown.arrows} drawn, ${loose} ends beside a slice`);
  if (wanted.arrows > 0) check(shown.arrows > 0, 'there are arrows');
  check(wanted.loose.f === 0, `arrows that end on no slice: ${wanted.loose.f}`);
}

function saySummary(shown) {
  console.log(`         ${shown.warnings} warnings of the viewer`);
  for (const [kind, count] of shown.warningKinds) console.log(`         ${count} × ${kind}`);
}

async function inViewer(file, picture) {
  return openInViewer(browser, server, server.offer(file), file.endsWith('.gz'), picture);
}

async function checkTimeline(file, against, pictures, number) {
  console.log(file);
  const picture = (kind) => join(pictures, `${number}_${basename(file)}_${kind}.png`);
  const events = eventsOf(file);
  const wanted = expectedOf(events);
  const shown = await inViewer(file, picture('tracing'));
  check(shown.errors.length === 0, `chrome://tracing reads it ${shown.errors.join('; ')}`);
  checkNames(wanted, shown);
  equal(shown.processes.reduce((sum, process) => sum + process.counterSamples, 0),
    wanted.counterSamples, 'counter samples');
  checkArrows(wanted, shown);
  saySummary(shown);
  if (against) {
    const peer = await inViewer(against);
    check(shown.warnings < peer.warnings,
      `fewer warnings than of ${against}: ${shown.warnings} and ${peer.warnings}`);
  }
  const scope = await openInSpeedscope(browser, server, file, picture('speedscope'));
  check(scope.said.length === 0, `speedscope reads it ${scope.said.join('; ')}`);
  check(scope.profiles === wanted.lanes.size,
    `profiles of speedscope: ${scope.profiles}, threads with slices: ${wanted.lanes.size}`);
}

const words = process.argv.slice(2);
const option = (name) => (words[0] === name ? words.splice(0, 2)[1] : undefined);
const pictures = option('--pictures') ?? '.';
mkdirSync(pictures, { recursive: true });
const server = await servePages();
const browser = await openBrowser();
let number = 0;
try {
  while (words.length > 0) {
    const against = option('--against');
    const file = words.shift();
    try {
      await checkTimeline(file, against, pictures, ++number);
    } catch (error) {
      check(false, `${file}: ${error.message}`);
    }
  }
} finally {
  await browser.close();
  server.close();
}
console.log(failures === 0 ? `${number} timelines: everything as it should be`
  : `${failures} checks FAILED`);
process.exitCode = failures === 0 ? 0 : 1;
