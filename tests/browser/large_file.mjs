// What a timeline of any size holds, read as a stream. For large.mjs.
// Our timelines are an array with an event a line; a file that is not so, or whose lines are not
// events of JSON, is an error.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';

// The event in a line of the array, without what separates it from the others; '' for none.
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

// events: how many have a time; kinds: how many of every "<ph> <pid> <cat>"; sum, xor: of their
// hashes, in whatever order they come; metadata: a hash of names, labels and sort indexes, sorted.
export async function factsOfFile(file) {
  const facts = { events: 0, kinds: new Map(), sum: 0, xor: 0 };
  const metadata = [];
  let previous = '[';  // what the last text ended with
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
