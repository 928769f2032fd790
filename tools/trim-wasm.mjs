// Takes out of a WebAssembly module what the program never calls but a table of function pointers keeps, and what words a panic:
// such functions become a trap, and calls of panics become one, so that later steps drop what only they used.
// Usage: node tools/trim-wasm.mjs IN OUT      (IN as the linker wrote it, with its names; with relocations they are kept right)
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Reader, eachFunction, functionNames, imports, instruction, kinds, leb, read, sections, write } from './wasm.mjs';

/**
 * Each type-erased view and attribute of Leptos carries pointers to every way it can come into a page. Ours come by `hydrate_body`,
 * which is synchronous (it waits for the chunk of the page first), or are built; nothing calls the asynchronous way or the one from
 * a <template>.
 */
const neverCalled = [/::hydrate_async(::\{\{closure\}\})*$/, /::new_with_async_value(_erased)?(::\{\{closure\}\})*$/, /::hydrate_from_template$/];

/**
 * What words a panic. A release build stops with a trap at the same place, without the words: every one of thousands of places
 * would otherwise name its file, line and column. Debug builds say them.
 */
const panics = [
  /^core::panicking::/,
  /^core::(result|option)::(unwrap|expect)_failed$/,
  /::(slice_index_fail|slice_error_fail|slice_error_fail_rt|len_mismatch_fail|assert_failed|assert_failed_inner)$/,
  /^alloc::raw_vec::(handle_error|capacity_overflow)$/,
  /^hashbrown::raw::Fallibility::capacity_overflow$/,
];

const escapes = { LT: '<', GT: '>', u20: ' ', u7b: '{', u7d: '}', RF: '&', BP: '*', C: ',', LP: '(', RP: ')' };

/** `core::option::unwrap_failed` from a name as the linker knows it, in either of the compiler's two ways of writing names. */
export function path(name) {
  const parts = [];
  if (name.startsWith('_ZN')) {
    for (let at = 3; at < name.length && name[at] !== 'E'; ) {
      const [digits] = /^\d+/.exec(name.slice(at)) ?? [];
      if (!digits) break;
      at += digits.length + Number(digits);
      parts.push(name.slice(at - Number(digits), at));
    }
    // The last part is a hash.
    if (/^h[0-9a-f]{16}$/.test(parts.at(-1) ?? '')) parts.pop();
    const text = parts.map((part) => part.replace(/^_(?=\$)/, '').replace(/\$(\w+?)\$/g, (all, code) => escapes[code] ?? all).replace(/\.\./g, '::'));
    return text.join('::');
  }
  if (!name.startsWith('_R')) return name;
  // The new way: tags, and names with their length before them. Disambiguators and references back tell nothing here.
  for (let at = 2; at < name.length; ) {
    const [whole, digits] = /^(?:s[0-9A-Za-z]*_|B[0-9A-Za-z]*_|(\d+)_?|.)/.exec(name.slice(at));
    at += whole.length;
    if (digits === undefined) continue;
    at += Number(digits);
    parts.push(name.slice(at - Number(digits), at));
  }
  return parts.join('::');
}

const any = (patterns) => (name) => patterns.some((pattern) => pattern.test(path(name)));
/** Whether a function of this name may go. */
export const unwanted = any([...neverCalled, ...panics]);
/** Whether a call of it never comes back. */
export const diverges = any(panics);

/** Kinds of relocation: a function's number in code, and those that carry one number more. */
const functionIndex = 0;
const withAddend = new Set([3, 4, 5, 8, 9, 11, 14, 15, 16, 17, 21, 22, 23, 25]);

/** The relocations of a section: where each is within the section, and its bytes. */
function relocations(reader, end) {
  const found = [];
  for (let left = reader.number(); left > 0; left--) {
    const from = reader.at;
    const kind = reader.byte();
    const offset = reader.number();
    reader.number();
    if (withAddend.has(kind)) reader.number();
    found.push({ kind, offset, bytes: reader.bytes.subarray(from, reader.at) });
  }
  if (reader.at !== end) throw new Error('relocations that this tool does not understand');
  return found;
}

/** Takes functions of a code section out, and calls of those that never come back; everything keeps its place and length. */
function trimCode(code, relocs, nameOf, imported, goes, noReturn) {
  const gone = [];
  let index = imported;
  eachFunction(code, (start, end) => {
    if (!goes(nameOf(index++))) return;
    // No local variables, `unreachable`, nothing, `end`.
    code.fill(instruction.nop, start, end);
    code.set([0, instruction.unreachable], start);
    code[end - 1] = instruction.end;
    gone.push([start, end]);
  });
  let at = 0;
  let calls = 0;
  const kept = relocs.filter(({ kind, offset }) => {
    while (at < gone.length && gone[at][1] <= offset) at++;
    if (at < gone.length && offset >= gone[at][0]) return false;
    // Only the linker's own calls have their target at a known place, five bytes long.
    if (kind !== functionIndex || code[offset - 1] !== instruction.call || !noReturn(nameOf(new Reader(code, offset).number()))) return true;
    code.fill(instruction.nop, offset, offset + 5);
    code[offset - 1] = instruction.unreachable;
    calls++;
    return false;
  });
  return { kept, trimmed: gone.length, calls };
}

/**
 * The module without the functions whose name `goes` accepts and, where it has relocations, without calls of those that `noReturn`
 * accepts; and how many those are.
 */
export function trim(module, goes, noReturn = () => false) {
  const found = read(module);
  let imported = 0;
  const names = functionNames(found);
  let relocs = { entries: [] };
  for (const section of found) {
    if (section.id === sections.import) imported = imports(section.body).filter(({ kind }) => kind === kinds.function).length;
    if (section.id !== sections.custom) continue;
    const inner = new Reader(section.body);
    if (inner.text() === 'reloc.CODE') {
      // The number of the section that it is about.
      inner.number();
      const before = section.body.subarray(0, inner.at);
      relocs = { section, before, entries: relocations(inner, section.body.length) };
    }
  }
  if (names.size === 0) throw new Error('the module has no names');
  const memo = (ask) => {
    const known = new Map();
    return (name) => known.get(name) ?? (known.set(name, ask(name)), known.get(name));
  };
  const code = found.find(({ id }) => id === sections.code).body;
  const { kept, trimmed, calls } = trimCode(code, relocs.entries, (index) => names.get(index) ?? '', imported, memo(goes), memo(noReturn));
  if (relocs.section) relocs.section.body = Buffer.concat([relocs.before, leb(kept.length), ...kept.map(({ bytes }) => bytes)]);
  return { module: write(found), trimmed, calls };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [input, output] = process.argv.slice(2);
  const { module, trimmed, calls } = trim(readFileSync(input), unwanted, diverges);
  writeFileSync(output, module);
  console.error(`trim-wasm: ${trimmed} functions and ${calls} calls of panics taken out`);
}
