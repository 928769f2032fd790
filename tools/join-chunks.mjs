// Makes the files that a browser loads out of what wasm-split wrote: it makes one file for every set of chunks that share code, which
// are dozens; here they become few. Then wasm-opt makes each small, and the script that loads them is written.
// Usage: node tools/join-chunks.mjs LINKED CUT MAIN PKG BINARYEN
//   LINKED  the module before it was cut                CUT   the folder that wasm-split wrote (LINKED and MAIN may lie in it)
//   MAIN    CUT's main module, after wasm-bindgen       PKG   where the site's scripts lie      BINARYEN  folder of wasm-merge and wasm-opt
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Reader, eachFunction, functionNames, imports, instruction, kinds, leb, read, sections, signed, text, write } from './wasm.mjs';

/**
 * Where code goes that several chunks share: to the first of these whose page uses it, else to the last. The deck is the largest page
 * and the one that most visits begin with, so its part is in the main module; the list of servers is the next one.
 */
const sharing = [
  { file: 'pilothouse', page: 'deck' },
  { file: 'shared', page: 'servers' },
  { file: 'details', page: undefined },
];
/** Under which name wasm-split lets chunks import from the main module, and merged ones do. */
const [fromSplit, fromMain] = ['__wasm_split', 'main'];

/** What the compiler emits (and wasm-opt may use): more would shut out browsers. */
const features = ['bulk-memory', 'bulk-memory-opt', 'call-indirect-overlong', 'multivalue', 'mutable-globals', 'nontrapping-float-to-int', 'reference-types', 'sign-ext'].map(
  (name) => `--enable-${name}`,
);

/** From wasm-split's script: for each chunk, the numbers of the files that it shares with others. */
export function chunksOf(script) {
  const chunks = {};
  for (const [, name, needs] of script.matchAll(/^export const __wasm_split_load_(\w+) = wrapAsyncCb\(makeLoad\([^]*?, \[([^\]]*)\]\)\);$/gm)) {
    chunks[name] = needs.split(', ').filter(Boolean).map((need) => Number(need.replace(/^__chunk_/, '')));
  }
  if (Object.keys(chunks).length === 0) throw new Error('no chunks in the script of wasm-split: it has another form than this tool knows');
  return chunks;
}

/** Which of wasm-split's shared files become one: a list for each of `sharing`. */
export function group(chunks) {
  const groups = sharing.map(() => []);
  for (const part of new Set(Object.values(chunks).flat())) {
    groups[sharing.findIndex(({ page }) => page === undefined || chunks[page]?.includes(part))].push(part);
  }
  return groups;
}

/** Calls `visit(place, start, end)` for each entry of a module's element section: its place in the table of function pointers, and where its bytes lie. */
function eachSlot(body, visit) {
  const reader = new Reader(body);
  for (let segments = reader.number(); segments > 0; segments--) {
    const kind = reader.number();
    // Bits: not active, table and type named, expressions instead of numbers of functions.
    const [active, named, expressions] = [!(kind & 1), kind & 2, kind & 4];
    if (!active || (named && reader.number() !== 0)) throw new Error('an element segment that is not one of the table of function pointers');
    reader.expect(instruction.constant, 'place of an element segment');
    const base = reader.number();
    reader.expect(instruction.end, 'place of an element segment');
    if (named) reader.byte();
    const count = reader.number();
    for (let index = 0; index < count; index++) {
      const filled = !expressions || reader.byte() === instruction.refFunc;
      const target = reader.number();
      if (expressions) reader.expect(instruction.end, 'entry of an element segment');
      if (filled) visit(base + index, target);
    }
  }
}

/** The place in the table that a function calls when it does nothing but pass its arguments on, and where in the code it says so. */
function passesOn(code, start, end) {
  const reader = new Reader(code, start);
  if (reader.number() !== 0) return undefined;
  while (code[reader.at] === instruction.localGet) {
    reader.byte();
    reader.number();
  }
  const at = reader.at;
  if (reader.byte() !== instruction.constant) return undefined;
  const place = reader.number();
  if (reader.byte() !== instruction.callIndirect) return undefined;
  reader.number();
  reader.number();
  return reader.at === end - 1 ? { place, at } : undefined;
}

/**
 * Functions of one file reach those of another by a table, also where both have become one file: there they now call each other.
 * `kept` gets the places that are still called through the table.
 */
export function callDirectly(module, kept) {
  const found = read(module);
  const code = found.find(({ id }) => id === sections.code)?.body;
  if (!code) return module;
  const slots = new Map();
  for (const { id, body } of found) if (id === sections.element) eachSlot(body, (place, target) => slots.set(place, target));
  eachFunction(code, (start, end) => {
    const call = passesOn(code, start, end);
    if (!call) return;
    const target = slots.get(call.place);
    const direct = target === undefined ? [] : [instruction.call, ...leb(target)];
    if (target === undefined || call.at + direct.length > end - 1) {
      kept.add(call.place);
      return;
    }
    code.fill(instruction.nop, call.at, end - 1);
    code.set(direct, call.at);
  });
  return write(found);
}

/** Place in the table to name of the function there. */
function slotNames(module) {
  const found = read(module);
  const names = functionNames(found);
  const slots = new Map();
  for (const { id, body } of found) if (id === sections.element) eachSlot(body, (place, target) => slots.set(place, names.get(target)));
  return slots;
}

/**
 * The places that wasm-split gave to functions of which the program has no pointer: only calls from one file to another go by them.
 * Told by name, because it gives new places to all. A name that several functions have counts as one that there is a pointer of.
 */
export function addedSlots(linked, cut) {
  const pointed = new Set(slotNames(linked).values());
  const known = new Set(functionNames(read(linked)).values());
  const added = new Set();
  for (const module of cut) for (const [place, name] of slotNames(module)) if (known.has(name) && !pointed.has(name)) added.add(place);
  return added;
}

/** The module without those entries of the table that `added` has and nothing calls any more (`kept` has what is called). */
export function dropSlots(module, added, kept) {
  const found = read(module);
  for (const section of found) {
    if (section.id !== sections.element) continue;
    const runs = [];
    let last;
    eachSlot(section.body, (place, target) => {
      if (added.has(place) && !kept.has(place)) return;
      if (last === undefined || place !== last + 1) runs.push({ place, targets: [] });
      runs.at(-1).targets.push(target);
      last = place;
    });
    const segments = runs.map(({ place, targets }) => [
      leb(0),
      Buffer.from([instruction.constant]),
      signed(place),
      Buffer.from([instruction.end]),
      leb(targets.length),
      ...targets.map(leb),
    ]);
    section.body = Buffer.concat([leb(runs.length), ...segments.flat()]);
  }
  return write(found);
}

/** The module with a mark that says which build it is of: its memory under one more name. */
export function mark(module, name) {
  const found = read(module);
  const section = found.find(({ id }) => id === sections.export);
  const reader = new Reader(section.body);
  const count = reader.number();
  section.body = Buffer.concat([leb(count + 1), section.body.subarray(reader.at), text(name), Buffer.from([kinds.memory, 0])]);
  return write(found);
}

/**
 * The script that loads chunks: `files` says which files each needs, `given` what they import of the main module, `build` by which
 * mark it is known that the main module is of the same build. While a server is updated a browser may get one file of each.
 */
export function loader(files, given, build) {
  const loads = Object.entries(files).map(([name, needs]) => `export const __wasm_split_load_${name} = load([${needs.map((file) => `'${file}'`).join(', ')}]);`);
  return `// Loads chunks of the pages; written by tools/join-chunks.mjs.
import { initSync } from './pilothouse.js';

const started = new Map();
let imports;

// Each file once; one that failed is asked for again the next time.
function start(file) {
  if (!started.has(file)) {
    const loading = WebAssembly.instantiateStreaming(fetch(new URL(file, import.meta.url)), imports);
    loading.catch(() => started.delete(file));
    started.set(file, loading);
  }
  return started.get(file);
}

function load(files) {
  return async (callback, data) => {
    // It is there: it calls this.
    const main = initSync();
    if (!imports) {
      const given = { ${given.map((name) => `${name}: main.${name}`).join(', ')} };
      imports = { ${fromSplit}: given, ${fromMain}: given };
    }
    let success = true;
    try {
      if (!('${build}' in main)) throw new Error('the main module is of another build than its chunks');
      await Promise.all(files.map(start));
    } catch (error) {
      console.error(error);
      success = false;
    }
    main.__indirect_function_table.get(callback)(data, success);
  };
}

${loads.join('\n')}
`;
}

/** What a file that is not the main one imports: memory, table and globals of the main one. */
function importsOf(module) {
  const found = read(module).find(({ id }) => id === sections.import);
  return found ? imports(found.body) : [];
}

/** A module that hands on what these import, so that files which are merged take it from one place instead of each for itself. */
export function hub(modules) {
  const given = new Map(modules.flatMap(importsOf).map((entry) => [entry.name, entry]));
  const next = new Map();
  const index = (kind) => {
    next.set(kind, (next.get(kind) ?? -1) + 1);
    return next.get(kind);
  };
  const all = [...given.values()];
  if (all.some(({ kind }) => kind === kinds.function)) throw new Error('a chunk imports a function: wasm-split reaches them by the table');
  const taken = all.flatMap(({ name, kind, type }) => [text(fromMain), text(name), Buffer.from([kind]), type]);
  const handed = all.flatMap(({ name, kind }) => [text(name), Buffer.from([kind]), leb(index(kind))]);
  return write([
    { id: sections.import, body: Buffer.concat([leb(all.length), ...taken]) },
    { id: sections.export, body: Buffer.concat([leb(all.length), ...handed]) },
  ]);
}

function main([linked, cut, mainFile, pkg, binaryen]) {
  // They print whole modules when they fail: the end of what they say is enough.
  const run = (tool, ...args) => {
    const done = spawnSync(join(binaryen, tool), [...features, ...args], { stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' });
    if (done.status !== 0) throw new Error(`${tool}: ${done.error?.message ?? done.stderr.trim().split('\n').slice(-3).join('\n')}`);
  };
  const chunks = chunksOf(readFileSync(join(cut, '__wasm_split.js'), 'utf8'));
  const groups = group(chunks);
  const named = (parts) => parts.map((part) => join(cut, `chunk_${part}.wasm`)).filter(existsSync).flatMap((file, index) => [file, `part${index}`]);

  const work = join(cut, 'joined');
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work);
  const modules = new Map();
  const merge = (name, ...inputs) => {
    const out = join(work, `${name}.wasm`);
    run('wasm-merge', '-g', ...inputs, '-o', out);
    modules.set(name, readFileSync(out));
  };
  for (const [index, { file }] of sharing.entries()) {
    const parts = named(groups[index]);
    if (index === 0) {
      // The name under which the others import from it.
      merge(file, mainFile, fromSplit, ...parts);
    } else if (parts.length) {
      const paths = parts.filter((_, at) => at % 2 === 0);
      writeFileSync(join(work, 'hub.wasm'), hub(paths.map((path) => readFileSync(path))));
      merge(file, join(work, 'hub.wasm'), fromSplit, ...parts);
    }
  }
  for (const name of Object.keys(chunks)) {
    const file = join(cut, `split_${name}.wasm`);
    if (existsSync(file)) modules.set(name, readFileSync(file));
  }

  const pieces = readdirSync(cut).filter((name) => name.endsWith('.wasm') && ![basename(linked), basename(mainFile)].includes(name));
  const added = addedSlots(readFileSync(linked), pieces.map((name) => readFileSync(join(cut, name))));
  const kept = new Set();
  for (const [name, module] of modules) modules.set(name, callDirectly(module, kept));
  const id = createHash('sha256');
  const given = new Set();
  for (const [name, module] of modules) {
    const [from, to] = [join(work, `${name}.cut.wasm`), join(work, `${name}.small.wasm`)];
    writeFileSync(from, dropSlots(module, added, kept));
    // Functions of one kind side by side compress better.
    run('wasm-opt', '-Oz', '--reorder-functions-by-name', '--strip-producers', from, '-o', to);
    const small = readFileSync(to);
    modules.set(name, small);
    id.update(small);
    if (name !== 'pilothouse') for (const { name: used } of importsOf(small)) given.add(used);
  }

  // Files of one build name it: with those of another one they must never meet, and a reader may keep them for good.
  const build = id.digest('hex').slice(0, 12);
  const folder = join(pkg, 'chunks');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const file = (name) => `chunks/${name}.${build}.wasm`;
  for (const [name, module] of modules) {
    if (name === 'pilothouse') writeFileSync(join(pkg, 'pilothouse.wasm'), mark(module, `build_${build}`));
    else writeFileSync(join(pkg, file(name)), module);
  }
  const files = Object.fromEntries(
    Object.entries(chunks).map(([name, parts]) => {
      const shares = sharing.filter((_, index) => index > 0 && parts.some((part) => groups[index].includes(part)));
      const needs = [...shares.map((share) => share.file), name].filter((needed) => modules.has(needed));
      return [name, needs.map(file)];
    }),
  );
  writeFileSync(join(pkg, '__wasm_split.js'), loader(files, [...given].sort(), `build_${build}`));
  writeFileSync(join(pkg, 'chunks.json'), `${JSON.stringify(files)}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2));
