// Reads and writes WebAssembly modules as lists of sections, as far as the build's own steps need it.

export const sections = { custom: 0, import: 2, export: 7, element: 9, code: 10 };
export const instruction = { unreachable: 0x00, nop: 0x01, end: 0x0b, call: 0x10, callIndirect: 0x11, localGet: 0x20, constant: 0x41, refNull: 0xd0, refFunc: 0xd2 };

/** Reads a module front to back. */
export class Reader {
  constructor(bytes, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }
  byte() {
    return this.bytes[this.at++];
  }
  /** An unsigned LEB128 number. (A signed one too, where it is small and not negative, as places in a table are.) */
  number() {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  }
  take(length) {
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }
  text() {
    return this.take(this.number()).toString('utf8');
  }
  /** The bounds of a table or memory. */
  limits() {
    const flags = this.number();
    this.number();
    if (flags & 1) this.number();
  }
  /** Goes over one byte that must be this one. */
  expect(byte, where) {
    const found = this.byte();
    if (found !== byte) throw new Error(`${where}: found 0x${found?.toString(16)} instead of 0x${byte.toString(16)}`);
  }
}

/** A number as unsigned LEB128. */
export function leb(value) {
  const out = [];
  do {
    const more = value > 0x7f;
    out.push((value & 0x7f) | (more ? 0x80 : 0));
    value = Math.floor(value / 128);
  } while (value > 0);
  return Buffer.from(out);
}

/** A number as signed LEB128; not negative. */
export function signed(value) {
  const out = leb(value);
  // The sign is the second highest bit of the last byte.
  if (!(out[out.length - 1] & 0x40)) return out;
  out[out.length - 1] |= 0x80;
  return Buffer.concat([out, Buffer.from([0])]);
}

/** What kinds of things an import or export is. */
export const kinds = { function: 0, table: 1, memory: 2, global: 3 };

/** What a module imports, in order: from where, its name, its kind, and the bytes of its type. `body` is the import section's. */
export function imports(body) {
  const reader = new Reader(body);
  const found = [];
  for (let left = reader.number(); left > 0; left--) {
    const [from, name, kind, start] = [reader.text(), reader.text(), reader.byte(), reader.at];
    if (kind === kinds.function) reader.number();
    else if (kind === kinds.memory) reader.limits();
    else if (kind === kinds.global) reader.take(2);
    else if (kind === kinds.table) {
      reader.byte();
      reader.limits();
    } else throw new Error(`an import of kind ${kind}, which this tool does not know`);
    found.push({ from, name, kind, type: body.subarray(start, reader.at) });
  }
  return found;
}

/** A name or other text, with its length. */
export const text = (word) => Buffer.concat([leb(Buffer.byteLength(word)), Buffer.from(word)]);

/** The sections of a module, in order; `body` is a copy. */
export function read(module) {
  const reader = new Reader(module, 8);
  const found = [];
  while (reader.at < module.length) {
    const [id, length] = [reader.byte(), reader.number()];
    found.push({ id, body: Buffer.from(reader.take(length)) });
  }
  return found;
}

/** A module of these sections. */
export function write(found) {
  const parts = found.flatMap(({ id, body }) => [Buffer.from([id]), leb(body.length), body]);
  return Buffer.concat([Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]), ...parts]);
}

/** Number to name of a module's functions, imported ones included; empty when it has no names. */
export function functionNames(found) {
  const names = new Map();
  for (const { id, body } of found) {
    if (id !== sections.custom) continue;
    const reader = new Reader(body);
    if (reader.text() !== 'name') continue;
    while (reader.at < body.length) {
      const [kind, length] = [reader.byte(), reader.number()];
      const next = reader.at + length;
      if (kind === 1) for (let left = reader.number(); left > 0; left--) names.set(reader.number(), reader.text());
      reader.at = next;
    }
  }
  return names;
}

/** Calls `visit(start, end)` for each function of a code section: where its body lies. */
export function eachFunction(code, visit) {
  const reader = new Reader(code);
  for (let left = reader.number(); left > 0; left--) {
    const length = reader.number();
    const start = reader.at;
    reader.take(length);
    visit(start, start + length);
  }
}
