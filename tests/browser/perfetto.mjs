// perfetto.mjs TRACE…: opens each Perfetto protobuf timeline in the trace processor and checks that
// it has the contents of the JSON file next to it: slices, tracks, counters, arrows. Exit code 1 if
// a check failed. Used by scripts/test-browser.
import { readFileSync, statSync } from 'node:fs';
import { eventsOf, expectedOf } from './expected.mjs';
import { openTrace } from './trace_processor.mjs';

const kSmallest = 20_000; // bytes of JSON; smaller files are dominated by fixed costs

let failures = 0;
function check(holds, what) {
  if (!holds) ++failures;
  console.log(`  ${holds ? 'ok    ' : 'FAILED'} ${what}`);
}

// Converts a time in us, possibly a text with more digits than a double holds, to ns.
function exact(us) {
  const [whole, part = ''] = String(us).split('.');
  return BigInt(whole + part.padEnd(3, '0').slice(0, 3));
}

function counted(lines) {
  const counts = new Map();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}
function same(wanted, found, what) {
  const counts = counted(found);
  for (const [line, count] of counted(wanted)) {
    if (counts.get(line) !== count) {
      return check(false, `${what}: '${line}' is there ${counts.get(line) ?? 0} times, not ${count}`);
    }
  }
  return check(wanted.length === found.length, `${what}: ${found.length} of ${wanted.length}`);
}

function namesOf(events, kind) {
  const names = new Map();
  for (const event of events) {
    if (event.ph === 'M' && event.name === kind)
      names.set(kind === 'process_name' ? event.pid : `${event.pid} ${event.tid}`, event.args.name);
  }
  return names;
}

async function checkTrace(file) {
  console.log(file);
  const json = file.replace(/\.perfetto-trace$/, '.json');
  const events = eventsOf(json);
  const processes = namesOf(events, 'process_name');
  const threads = namesOf(events, 'thread_name');
  const slices = events.filter(({ ph }) => ph === 'X');
  const trace = await openTrace(readFileSync(file));

  const damage = trace.query("select name, value from stats where value <> 0"
    + " and severity in ('error', 'data_loss')");
  check(damage.length === 0, `no errors ${damage.map(({ name }) => name).join(', ')}`);

  const drawn = trace.query('select s.name, s.ts, s.dur, t.name as track, p.name as process from slice as s'
    + ' join process_track as t on s.track_id = t.id join process as p using (upid)');
  // An arrow end without a slice is represented by a mark.
  const { arrows: wantedArrows, loose } = expectedOf(events);
  const marks = new Set(events.filter(({ ph }) => 'stf'.includes(ph))
    .map((event) => `${event.name} ${exact(event.ts)}`));
  const isMark = ({ name, ts, dur }) => Number(dur) === 0 && marks.has(`${name} ${ts}`);
  const shown = drawn.filter((slice) => !isMark(slice));
  check(drawn.length - shown.length >= loose.s + loose.t + loose.f,
    `${drawn.length - shown.length} ends of arrows beside any slice`);
  same(slices.map((slice) => [processes.get(slice.pid), threads.get(`${slice.pid} ${slice.tid}`),
    slice.name, exact(slice.ts), exact(slice.dur)].join(' | ')),
  shown.map((slice) => [slice.process, slice.track, slice.name, BigInt(slice.ts),
    BigInt(slice.dur)].join(' | ')), 'slices by process, thread, name, begin and length');

  const samples = events.filter(({ ph }) => ph === 'C').flatMap((event) => Object.entries(event.args)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => `${processes.get(event.pid)} | ${event.name} ${key} | ${exact(event.ts)} | ${Number(value)}`));
  const counters = trace.query('select t.name, p.name as process, c.ts, c.value from counter as c'
    + ' join process_counter_track as t on c.track_id = t.id join process as p using (upid)');
  same(samples, counters.map(({ name, process, ts, value }) =>
    `${process} | ${name} | ${BigInt(ts)} | ${value}`), 'samples of counters');

  const [{ n: arrows }] = trace.query('select count(*) as n from flow');
  check(arrows === wantedArrows, `arrows: ${arrows} of ${wantedArrows}`);

  const sizes = [json, file].map((one) => statSync(one).size);
  if (sizes[0] >= kSmallest)
    check(sizes[1] * 5 <= sizes[0], `${sizes[1]} bytes, at most a fifth of the ${sizes[0]} of JSON`);
}

const files = process.argv.slice(2);
for (const file of files) {
  try {
    await checkTrace(file);
  } catch (error) {
    check(false, `${file}: ${error.stack}`);
  }
}
console.log(failures === 0 ? `${files.length} traces: everything as it should be`
  : `${failures} checks FAILED`);
process.exitCode = failures === 0 && files.length > 0 ? 0 : 1;
