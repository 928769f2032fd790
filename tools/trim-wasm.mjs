// Takes functions out of a WebAssembly module that the program never calls but a table of function pointers keeps: what they do becomes
// a trap, and wasm-opt then drops what only they used.
// Usage: node tools/trim-wasm.mjs IN OUT      (IN must still have its names; wasm-bindgen keeps them)
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// A name as the compiler writes it, with the hash at its end (or, in the standard library, behind the crate).
const named = (pattern) => new RegExp(`(^|[ <:])${pattern}(::<.*>)?(::h[0-9a-f]{16})?$`);

/**
 * Each type-erased view and attribute of Leptos carries pointers to every way it can come into a page. Ours come by `hydrate_body`,
 * which is synchronous, or are built; nothing calls the asynchronous way (lazy routes) or the one from a <template>.
 */
const neverCalled = [
  named('hydrate_async(::\\{\\{closure\\}\\})*'),
  named('new_with_async_value(_erased)?(::\\{\\{closure\\}\\})*'),
  named('hydrate_from_template'),
];

/**
 * What words a panic. A release build stops with a trap at the same place, without the words: every one of thousands of places
 * would otherwise name its file, line and column. Debug builds say them.
 */
const panics = [
  named('core(\\[[0-9a-f]+\\])?::panicking::.*'),
  named('(result|option)::(unwrap|expect)_failed'),
  named('(slice_index_fail|slice_error_fail|slice_error_fail_rt|len_mismatch_fail|assert_failed|assert_failed_inner)'),
  named('raw_vec::(handle_error|capacity_overflow)'),
  named('<hashbrown(\\[[0-9a-f]+\\])?::raw::Fallibility>::capacity_overflow'),
];

/** Whether a function of this name may go. */
export const unwanted = (name) => [...neverCalled, ...panics].some((pattern) => pattern.test(name));

const sections = { custom: 0, import: 2, code: 10 };

/** Reads a module front to back. */
class Reader {
  constructor(bytes, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }
  byte() {
    return this.bytes[this.at++];
  }
  /** An unsigned LEB128 number. */
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
}

function leb(value) {
  const out = [];
  do {
    const more = value > 0x7f;
    out.push((value & 0x7f) | (more ? 0x80 : 0));
    value = Math.floor(value / 128);
  } while (value > 0);
  return Buffer.from(out);
}

function importedFunctions(body) {
  const reader = new Reader(body);
  let functions = 0;
  for (let left = reader.number(); left > 0; left--) {
    reader.text();
    reader.text();
    const kind = reader.byte();
    if (kind === 0) {
      reader.number();
      functions++;
    } else if (kind === 1) {
      reader.byte();
      reader.limits();
    } else if (kind === 2) {
      reader.limits();
    } else if (kind === 3) {
      reader.take(2);
    } else {
      throw new Error(`an import of kind ${kind}, which this tool does not know`);
    }
  }
  return functions;
}

/** Function index to name, from the body of the `name` section. */
function functionNames(reader, end) {
  const names = new Map();
  while (reader.at < end) {
    const [kind, length] = [reader.byte(), reader.number()];
    const next = reader.at + length;
    if (kind === 1) for (let left = reader.number(); left > 0; left--) names.set(reader.number(), reader.text());
    reader.at = next;
  }
  return names;
}

/** The module with the bodies of functions replaced whose name `goes` accepts, and how many those are. */
export function trim(module, goes) {
  const reader = new Reader(module, 8);
  const found = [];
  let imported = 0;
  let names = new Map();
  while (reader.at < module.length) {
    const [id, length] = [reader.byte(), reader.number()];
    const body = reader.take(length);
    found.push({ id, body });
    if (id === sections.import) imported = importedFunctions(body);
    if (id === sections.custom) {
      const inner = new Reader(body);
      if (inner.text() === 'name') names = functionNames(inner, body.length);
    }
  }
  if (names.size === 0) throw new Error('the module has no names');
  let trimmed = 0;
  // No local variables, `unreachable`, `end`.
  const trap = Buffer.from([3, 0, 0x00, 0x0b]);
  const out = [module.subarray(0, 8)];
  for (const { id, body } of found) {
    let content = body;
    if (id === sections.code) {
      const code = new Reader(body);
      const count = code.number();
      const bodies = [leb(count)];
      for (let index = 0; index < count; index++) {
        const start = code.at;
        code.take(code.number());
        const gone = goes(names.get(imported + index) ?? '');
        if (gone) trimmed++;
        bodies.push(gone ? trap : body.subarray(start, code.at));
      }
      content = Buffer.concat(bodies);
    }
    out.push(Buffer.from([id]), leb(content.length), content);
  }
  return { module: Buffer.concat(out), trimmed };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [input, output] = process.argv.slice(2);
  const { module, trimmed } = trim(readFileSync(input), unwanted);
  writeFileSync(output, module);
  console.error(`trim-wasm: ${trimmed} functions taken out`);
}
