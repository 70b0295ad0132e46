// Reads the contents of a timeline of any size as a stream. Expects the form that msprof writes, an
// array with one event per line; anything else is an error. Used by large.mjs.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';

// The event in a line of the array without its separators; '' if the line has no event.
function eventText(line, isFirst) {
  let text = line.trim();
  if (isFirst) {
    if (!text.startsWith('[')) throw new Error('does not begin with [');
    text = text.slice(1);
  }
  return text;
}

function hashOf(text) {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; ++i) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

// events: number of events with a time; kinds: count per "<ph> <pid> <cat>"; sum, xor: of the
// events' hashes, independent of their order; metadata: a hash of the sorted names, labels and sort
// indexes.
export async function factsOfFile(file) {
  const facts = { events: 0, kinds: new Map(), sum: 0, xor: 0 };
  const metadata = [];
  let previous = '['; // last character of the previous text
  let isFirst = true;
  const take = (line) => {
    let text = eventText(line, isFirst);
    isFirst = false;
    if (text === '') return;
    if (previous === ']') throw new Error(`${file}: text behind the array`);
    const closes = text.endsWith(']');
    const goesOn = text.endsWith(',');
    if (closes || goesOn) text = text.slice(0, -1);
    if (text !== '') {
      if (previous === '}') throw new Error(`${file}: no comma between events`);
      const event = JSON.parse(text);
      if (event.ph === 'M') metadata.push(text);
      else {
        const kind = `${event.ph} ${event.pid} ${event.cat ?? ''}`;
        facts.kinds.set(kind, (facts.kinds.get(kind) ?? 0) + 1);
        const hash = hashOf(text);
        facts.sum = (facts.sum + hash) >>> 0;
        facts.xor ^= hash;
        ++facts.events;
      }
    } else if (previous === ',') throw new Error(`${file}: a comma without an event`);
    previous = closes ? ']' : goesOn ? ',' : '}';
  };
  let rest = '';
  for await (const chunk of createReadStream(file, { encoding: 'utf8', highWaterMark: 1 << 20 })) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    lines.forEach(take);
  }
  take(rest);
  if (previous !== ']') throw new Error(`${file}: the array does not end`);
  facts.metadata = createHash('sha256').update(metadata.sort().join('\n')).digest('hex');
  return facts;
}
