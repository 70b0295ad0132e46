// Computes from the JSON text only what a viewer must show for a timeline: its processes, threads,
// slices, counter samples and arrows. Times are exact: BigInt nanoseconds.
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

export function eventsOf(file) {
  const bytes = readFileSync(file);
  return JSON.parse((file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8'));
}

const nsOf = (us) => {
  const [whole, part = ''] = String(us).split('.');
  return BigInt(whole) * 1000n + BigInt(part.padEnd(3, '0').slice(0, 3));
};

// Counts flow arrows of the Trace Event Format: `s` starts, `t` continues, `f` ends. Events with
// the same category, id and name belong together, in time order.
function arrowsOf(events) {
  const ends = new Map();
  for (const event of events.filter(({ ph }) => 'stf'.includes(ph))) {
    const key = JSON.stringify([event.cat, event.id, event.name]);
    ends.set(key, [...ends.get(key) ?? [], event]);
  }
  let arrows = 0;
  let unstarted = 0;
  for (const list of ends.values()) {
    let open = false;
    list.sort((a, b) => Number(nsOf(a.ts) - nsOf(b.ts)));
    for (const { ph } of list) {
      if (ph !== 's') open ? ++arrows : ++unstarted;
      open = ph === 's' || (ph === 't' && open);
    }
  }
  return { arrows, unstarted };
}

// Ends of arrows without a slice on their thread; viewers drop these.
function looseEnds(events) {
  const slices = new Map();
  for (const { ph, pid, tid, ts, dur } of events) {
    if (ph !== 'X') continue;
    const lane = `${pid} ${tid}`;
    if (!slices.has(lane)) slices.set(lane, []);
    slices.get(lane).push([nsOf(ts), nsOf(ts) + nsOf(dur.toFixed(3))]);
  }
  const count = { s: 0, t: 0, f: 0 };
  for (const { ph, pid, tid, ts } of events) {
    if (!(ph in count)) continue;
    const at = nsOf(ts);
    if (!(slices.get(`${pid} ${tid}`) ?? []).some(([begin, end]) => begin <= at && at <= end)) {
      ++count[ph];
    }
  }
  return count;
}

export function expectedOf(events) {
  const names = new Map();
  const labels = new Map();
  const threads = new Map();
  const lanes = new Map();
  let counterSamples = 0;
  for (const { ph, name, pid, tid, args } of events) {
    const lane = `${pid} ${tid}`;
    if (ph === 'M' && name === 'process_name') names.set(pid, args.name);
    if (ph === 'M' && name === 'process_labels') labels.set(pid, args.labels);
    if (ph === 'M' && name === 'thread_name') threads.set(lane, args.name);
    if (ph === 'X') lanes.set(lane, (lanes.get(lane) ?? 0) + 1);
    if (ph === 'C') counterSamples += Object.keys(args).length;
  }
  const slices = [...lanes.values()].reduce((sum, count) => sum + count, 0);
  return {
    names, labels, threads, lanes, slices, counterSamples,
    loose: looseEnds(events), ...arrowsOf(events),
  };
}
