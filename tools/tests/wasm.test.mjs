// Tests of the build's own steps on WebAssembly: taking functions out, joining the files that a cut module is in.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addedSlots, callDirectly, chunksOf, dropSlots, group, hub, loader, mark } from '../join-chunks.mjs';
import { diverges, path, trim, unwanted } from '../trim-wasm.mjs';
import { leb, read, signed, text, write } from '../wasm.mjs';

const section = (id, ...parts) => ({ id, body: Buffer.concat(parts.map((part) => (typeof part === 'number' ? Buffer.from([part]) : Buffer.from(part)))) });
const functionBody = (...code) => [code.length + 2, 0, ...code, 0x0b];
const nameSection = (names) => {
  const list = Buffer.concat([leb(names.length), ...names.map(([index, name]) => Buffer.concat([leb(index), text(name)]))]);
  return section(0, text('name'), 1, leb(list.length), list);
};

/** A module that imports a function and exports two of its own; both give 7. */
const smallModule = (names) =>
  write([
    section(1, [1, 0x60, 0, 1, 0x7f]),
    section(2, 1, text('env'), text('f'), [0, 0]),
    section(3, [2, 0, 0]),
    section(7, 2, text('kept'), [0, 1], text('gone'), [0, 2]),
    section(10, 2, functionBody(0x41, 7), functionBody(0x41, 7)),
    ...(names.length ? [nameSection(names)] : []),
  ]);

test('a function that is taken out traps when called, the others stay', async () => {
  const before = smallModule([[0, 'env::f'], [1, 'a::kept'], [2, 'a::gone']]);
  const { module, trimmed } = trim(before, (name) => name.endsWith('gone'));
  assert.equal(trimmed, 1);
  const { instance } = await WebAssembly.instantiate(module, { env: { f: () => 1 } });
  assert.equal(instance.exports.kept(), 7);
  assert.throws(() => instance.exports.gone(), WebAssembly.RuntimeError);
});

test('a module without names is refused: nothing could be found in it', () => {
  assert.throws(() => trim(smallModule([]), () => true), /no names/);
});

test('a call that never comes back becomes a trap, and what is taken out has no relocations left', async () => {
  // Code as the linker writes it: numbers of functions are five bytes long, and a section says where they are.
  const call = (index) => [0x10, 0x80 | index, 0x80, 0x80, 0x80, 0];
  const bodies = [functionBody(0x41, 7), functionBody(...call(0)), functionBody(...call(0)), functionBody(...call(3), 0x1a, ...call(0)), functionBody(0x41, 5)];
  const starts = bodies.map((_, index) => 1 + bodies.slice(0, index).flat().length + 2);
  const reloc = (offset, symbol) => [0, offset, symbol];
  const relocs = [reloc(starts[1] + 1, 9), reloc(starts[2] + 1, 9), reloc(starts[3] + 1, 8), reloc(starts[3] + 8, 9)];
  const before = write([
    section(1, [1, 0x60, 0, 1, 0x7f]),
    section(3, [bodies.length, 0, 0, 0, 0, 0]),
    section(7, 3, text('plain'), [0, 1], text('gone'), [0, 2], text('panics'), [0, 3]),
    section(10, bodies.length, ...bodies),
    section(0, text('reloc.CODE'), [3, relocs.length], ...relocs),
    nameSection([[0, 'seven'], [1, 'plain'], [2, 'gone'], [3, 'panics'], [4, 'panic']]),
  ]);
  // The third function calls itself before the panic: only the last must become a trap.
  const { module, trimmed, calls } = trim(before, (name) => name === 'gone', (name) => name === 'panics');
  assert.deepEqual([trimmed, calls], [1, 1]);
  assert.equal(module.length, before.length - 2 * 3, 'only two relocations are gone');
  const { instance } = await WebAssembly.instantiate(module);
  assert.equal(instance.exports.plain(), 7);
  assert.throws(() => instance.exports.gone(), WebAssembly.RuntimeError);
  assert.throws(() => instance.exports.panics(), /unreachable/);
  const left = read(module).find(({ id, body }) => id === 0 && body.includes('reloc.CODE')).body;
  assert.deepEqual([...left.subarray(-8)], [3, 2, ...relocs[0], ...relocs[3]]);
});

test('names are understood in both ways of the compiler to write them', () => {
  for (const [name, said] of [
    ['_ZN4core9panicking13panic_display17he9e4c0e951d8b694E', 'core::panicking::panic_display'],
    ['_ZN53_$LT$T$u20$as$u20$tachys..view..any_view..IntoAny$GT$8into_any13hydrate_async17hb492669934cdf2e6E', '<T as tachys::view::any_view::IntoAny>::into_any::hydrate_async'],
    ['_RNvNtCs5mHvbFnuKcK_4core6option13unwrap_failed', 'core::option::unwrap_failed'],
    ['_RNvMNtCs7LpDddHSVTh_9hashbrown3rawNtB2_11Fallibility17capacity_overflow', 'hashbrown::raw::Fallibility::capacity_overflow'],
    ['hydrate', 'hydrate'],
    ['', ''],
  ]) {
    assert.equal(path(name), said);
  }
});

test('what the browser calls is not taken out', () => {
  const panics = [
    '_ZN4core9panicking13panic_display17he9e4c0e951d8b694E',
    '_RINvNtCs5mHvbFnuKcK_4core9panicking13assert_failedjjEB4_',
    '_RNvNtCs5mHvbFnuKcK_4core6option13unwrap_failed',
    '_RNvNvMs_NtCsjJSwFlaWAU_5alloc3vecINtB6_3VecppE6remove13assert_failed',
    '_RNvMNtCs7LpDddHSVTh_9hashbrown3rawNtB2_11Fallibility17capacity_overflow',
  ];
  const neverCalled = [
    '_ZN53_$LT$T$u20$as$u20$tachys..view..any_view..IntoAny$GT$8into_any13hydrate_async17hb492669934cdf2e6E',
    '_ZN53_$LT$T$u20$as$u20$tachys..view..any_view..IntoAny$GT$8into_any13hydrate_async28_$u7b$$u7b$closure$u7d$$u7d$17h07104449103d0455E',
    '_ZN78_$LT$T$u20$as$u20$tachys..html..attribute..any_attribute..IntoAnyAttribute$GT$13into_any_attr21hydrate_from_template17h013609ee4a61a28cE',
  ];
  const kept = [
    'hydrate',
    '_ZN6leptos5mount12hydrate_body17h72b7466ce4f1fc14E',
    '_ZN53_$LT$T$u20$as$u20$tachys..view..any_view..IntoAny$GT$8into_any19hydrate_from_server17h72b7466ce4f1fc14E',
    // It has a panic's type in it, and is none.
    '_RINvNtCs5mHvbFnuKcK_4core3ptr13drop_in_placeNtNvNtCs9Q5ymRQ9SrX_3std9panicking13panic_handler19FormatStringPayloadEBM_',
    '_ZN4core6option15Option$LT$T$GT$9unwrap_or17h32656f72097a1682E',
    '',
  ];
  assert.deepEqual([...panics, ...neverCalled].filter((name) => !unwanted(name)), []);
  assert.deepEqual(panics.filter((name) => !diverges(name)), []);
  assert.deepEqual(kept.filter(unwanted), []);
  assert.deepEqual([...neverCalled, ...kept].filter(diverges), []);
});

const splitScript = `
/* deck, set */
const __chunk_3 = makeLoad(() => { return 1; }
, []);
export const __wasm_split_load_set = wrapAsyncCb(makeLoad(() => {
    return 2;
}
, [__chunk_3, __chunk_4]));
export const __wasm_split_load_deck = wrapAsyncCb(makeLoad(() => {
}
, [__chunk_3]));
export const __wasm_split_load_batches = wrapAsyncCb(makeLoad(() => {
}
, []));
`;

test('what the deck shares goes to the main module, then what the list of servers shares to a file, then the rest', () => {
  const chunks = chunksOf(splitScript);
  assert.deepEqual(chunks, { set: [3, 4], deck: [3], batches: [] });
  assert.deepEqual(group(chunks), [[3], [], [4]]);
  assert.deepEqual(group({ set: [1, 2, 3], servers: [2, 3], deck: [3] }), [[3], [2], [1]]);
  assert.throws(() => chunksOf('export const other = 1;'), /no chunks/);
});

/**
 * A module with a table of 140 places, of which 1 and 130 give 7 and 8; it exports a function for each of the places given, which
 * does nothing but call it.
 */
const withTable = (...places) =>
  write([
    section(1, [1, 0x60, 0, 1, 0x7f]),
    section(3, leb(2 + places.length), ...Array(2 + places.length).fill(0)),
    section(4, 1, 0x70, 0, leb(140)),
    section(7, leb(1 + places.length), text('table'), [1, 0], ...places.map((place, index) => Buffer.concat([text(`at${place}`), Buffer.from([0, 2 + index])]))),
    section(9, 2, [0, 0x41], signed(1), [0x0b, 1, 0], [0, 0x41], signed(130), [0x0b, 1, 1]),
    section(10, leb(2 + places.length), functionBody(0x41, 7), functionBody(0x41, 8), ...places.map((place) => functionBody(0x41, ...signed(place), 0x11, 0, 0))),
  ]);

test('a call through the table becomes direct where the same file fills the place, and stays where another one does', async () => {
  const kept = new Set();
  const module = callDirectly(withTable(1, 130, 139), kept);
  assert.deepEqual([...kept], [139]);
  const { instance } = await WebAssembly.instantiate(module);
  const { at1, at130, at139, table } = instance.exports;
  // Empty places show that the calls do not go by them.
  table.set(1, null);
  table.set(130, null);
  assert.deepEqual([at1(), at130()], [7, 8]);
  assert.throws(() => at139(), WebAssembly.RuntimeError);
});

test('places that wasm-split added and nothing calls are dropped; those of the program stay', async () => {
  const after = async (added, kept) => {
    const { instance } = await WebAssembly.instantiate(dropSlots(withTable(), new Set(added), new Set(kept)));
    return [1, 130].map((place) => instance.exports.table.get(place)?.() ?? null);
  };
  assert.deepEqual(await after([], []), [7, 8]);
  assert.deepEqual(await after([130], []), [7, null]);
  assert.deepEqual(await after([1, 130], [130]), [null, 8]);
});

test('a place is an added one when the program has no pointer of the function there, wherever it was moved to', () => {
  const element = (...slots) => section(9, slots.length, ...slots.map(([place, target]) => Buffer.concat([Buffer.from([0, 0x41]), signed(place), Buffer.from([0x0b, 1, target])])));
  const linked = write([element([1, 0]), nameSection([[0, 'pointed'], [1, 'called'], [2, 'other']])]);
  const first = write([element([4, 0], [5, 1]), nameSection([[0, 'called'], [1, 'pointed']])]);
  // What wasm-split made itself has a name that the program does not know; nobody can tell what that is for.
  const second = write([element([6, 0], [7, 1], [8, 2]), nameSection([[0, 'other'], [1, 'made by the cut']])]);
  assert.deepEqual([...addedSlots(linked, [first, second])], [4, 6]);
});

test('files that are merged take memory and globals from one place', async () => {
  const chunk = (...entries) => write([section(2, entries.length, ...entries)]);
  const memory = Buffer.concat([text('__wasm_split'), text('memory'), Buffer.from([2, 0, 1])]);
  const global = Buffer.concat([text('__wasm_split'), text('stack'), Buffer.from([3, 0x7f, 1])]);
  const module = hub([chunk(memory, global), chunk(memory)]);
  const main = { memory: new WebAssembly.Memory({ initial: 1 }), stack: new WebAssembly.Global({ value: 'i32', mutable: true }, 3) };
  const { instance } = await WebAssembly.instantiate(module, { main });
  assert.equal(instance.exports.memory, main.memory);
  assert.equal(instance.exports.stack, main.stack);
  const call = Buffer.concat([text('__wasm_split'), text('f'), Buffer.from([0, 0])]);
  assert.throws(() => hub([chunk(call)]), /imports a function/);
});

test('a main module says which build it is of', async () => {
  const module = mark(write([section(5, 1, [0, 1]), section(7, 1, text('memory'), [2, 0])]), 'build_1');
  const { instance } = await WebAssembly.instantiate(module);
  assert.equal(instance.exports.build_1, instance.exports.memory);
});

test('a chunk that failed to load is asked for again, one that is there is not', async (t) => {
  // The script as a module, with a main module and files of ours.
  const script = loader({ a: ['chunks/shared.wasm', 'chunks/a.wasm'], b: ['chunks/shared.wasm'] }, ['memory'], 'build_1');
  const called = [];
  globalThis.mainForTest = { memory: 1, build_1: 1, __indirect_function_table: { get: (index) => (data, success) => called.push([index, data, success]) } };
  t.mock.method(console, 'error', () => {});
  let broken = true;
  const asked = [];
  t.mock.method(globalThis, 'fetch', (url) => String(url));
  t.mock.method(WebAssembly, 'instantiateStreaming', async (url, imports) => {
    asked.push(url.replace(/.*\//, ''));
    assert.deepEqual(imports, { __wasm_split: { memory: 1 }, main: { memory: 1 } });
    if (broken && url.endsWith('/a.wasm')) throw new Error('away');
  });
  const module = script.replace("import { initSync } from './pilothouse.js';", 'const initSync = () => globalThis.mainForTest;').replaceAll('import.meta.url', "'http://site/pkg/x.js'");
  const { __wasm_split_load_a: a, __wasm_split_load_b: b } = await import(`data:text/javascript,${encodeURIComponent(module)}`);
  await a(1, 2);
  broken = false;
  await a(3, 4);
  await b(5, 6);
  assert.deepEqual(asked, ['shared.wasm', 'a.wasm', 'a.wasm']);
  assert.deepEqual(called, [[1, 2, false], [3, 4, true], [5, 6, true]]);
  // The main module of another build has other things at the places that a chunk calls.
  delete globalThis.mainForTest.build_1;
  await b(7, 8);
  assert.deepEqual(called.at(-1), [7, 8, false]);
  delete globalThis.mainForTest;
});
