// Tests of the tools behind ./dev that decide something: bundling styles, comparing languages, judging source files.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkSource, compareLocales, duplicateKeys, maxLines } from '../check-files.mjs';
import { bundleCss } from '../site.mjs';

const styles = (files) => bundleCss('style/main.css', (path) => {
  if (!(path in files)) throw new Error(`no such file: ${path}`);
  return files[path];
});

test('imported styles stand in the order of their imports, each once', () => {
  const css = styles({
    'style/main.css': '/* all */\n@import "tokens.css";\n@import url("parts/deck.css");\nbody { margin: 0 }\n',
    'style/tokens.css': ':root { --a: 1 }',
    'style/parts/deck.css': '@import "../tokens.css";\n.deck { color: red }\n',
  });
  assert.equal(css, '/* all */\n:root { --a: 1 }\n.deck { color: red }\nbody { margin: 0 }\n');
});

test('an import inside a comment stays a comment', () => {
  const css = styles({ 'style/main.css': '/*\n@import "gone.css";\n*/\na { top: 0 }\n' });
  assert.equal(css, '/*\n@import "gone.css";\n*/\na { top: 0 }\n');
});

test('styles that import each other in a circle are refused with the circle', () => {
  const files = { 'style/main.css': '@import "a.css";', 'style/a.css': '@import "main.css";' };
  assert.throws(() => styles(files), /circle: style\/main\.css -> style\/a\.css -> style\/main\.css/);
});

test('an import of a form that browsers know and we do not is refused, not dropped', () => {
  assert.throws(() => styles({ 'style/main.css': '@import "a.css" screen;' }), /only @import "file\.css"/);
});

test('languages with the same texts and the same values agree', () => {
  assert.deepEqual(compareLocales({ en: { a: { b: '{n} servers' } }, zh: { a: { b: '{n} 台服务器' } } }), []);
});

test('a missing text, an empty one and a forgotten value are each found by name', () => {
  const findings = compareLocales({
    en: { deck: { title: 'Deck', count: '{n} servers' }, only: 'here' },
    ja: { deck: { title: ' ', count: 'サーバー' } },
  });
  assert.deepEqual(findings, [
    "ja: 'deck.count' takes [], in en it is [{n}]",
    "ja: 'deck.title' is no text or an empty one",
    "ja: no text for 'only' (en has one)",
  ]);
});

test('a key that stands twice in one object is found, the same key in two objects is fine', () => {
  assert.deepEqual(duplicateKeys('{"a": {"x": "1", "y": "a,{x"}, "b": {"x": ["x", "x"]}, "a": "2"}'), ['a']);
});

test('a source file says first what it is', () => {
  assert.deepEqual(checkSource('a/b.rs', '//! The part that does b.\n'), []);
  assert.equal(checkSource('a/b.rs', 'use std::fmt;\n').length, 1);
  assert.deepEqual(checkSource('tools/x.sh', '#!/usr/bin/env bash\n# Does x.\n'), []);
  assert.equal(checkSource('tools/x.sh', '#!/usr/bin/env bash\nset -e\n').length, 1);
  assert.equal(checkSource('style/a.css', 'a { top: 0 }\n').length, 1);
  assert.deepEqual(checkSource('server/x/tests/cases/okg.yaml', 'cases: []\n'), []);
});

test('a file of more lines than allowed is named with its length, data is not', () => {
  const long = `// x\n${'\n'.repeat(maxLines)}`;
  assert.match(checkSource('a.rs', long)[0], new RegExp(`a\\.rs: ${maxLines + 1} lines`));
  assert.deepEqual(checkSource('docs/a.md', long), []);
});
