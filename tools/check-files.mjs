// Checks that need no compiler: all languages hold the same texts, no source file is too long, each begins by saying what it is.
// Usage: node tools/check-files.mjs ; prints each finding as PATH: WHAT, exit code 1 when there is one.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { filesUnder } from './site.mjs';

const localeFolder = 'app/locales';
export const maxLines = 1000;

/** The texts of a locale file by dotted key; a list's items by their index. */
export function flatten(value, prefix = '', out = new Map()) {
  if (value !== null && typeof value === 'object') {
    for (const [key, child] of Object.entries(value)) flatten(child, prefix === '' ? key : `${prefix}.${key}`, out);
  } else {
    out.set(prefix, value);
  }
  return out;
}

/** The places where a text takes a value, such as {count}, sorted. */
export const placeholders = (text) => [...new Set(String(text).match(/\{[^{}]*\}/g) ?? [])].sort();

/** Findings about the texts, given as {language: parsed JSON}: missing keys, empty texts, values that another language does not take. */
export function compareLocales(locales) {
  const findings = [];
  const texts = Object.entries(locales).map(([name, json]) => [name, flatten(json)]);
  const all = new Set(texts.flatMap(([, map]) => [...map.keys()]));
  for (const key of [...all].sort()) {
    const [firstName, first] = texts.find(([, map]) => map.has(key));
    const wanted = placeholders(first.get(key)).join(' ');
    for (const [name, map] of texts) {
      const text = map.get(key);
      if (!map.has(key)) findings.push(`${name}: no text for '${key}' (${firstName} has one)`);
      else if (typeof text !== 'string' || text.trim() === '') findings.push(`${name}: '${key}' is no text or an empty one`);
      else if (placeholders(text).join(' ') !== wanted) {
        findings.push(`${name}: '${key}' takes [${placeholders(text).join(' ')}], in ${firstName} it is [${wanted}]`);
      }
    }
  }
  return findings;
}

/** A JSON text in which one object names a key twice loses the first value without a word: which keys, by name. */
export function duplicateKeys(text) {
  const found = [];
  const open = [];
  let expectKey = false;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]/g)) {
    if (token === '{') open.push(new Set());
    else if (token === '[') open.push(null);
    else if (token === '}' || token === ']') open.pop();
    else if (token.startsWith('"') && expectKey && open.at(-1)) {
      if (open.at(-1).has(token)) found.push(JSON.parse(token));
      open.at(-1).add(token);
    }
    expectKey = token === '{' || token === ',';
  }
  return found;
}

const starts = {
  '.rs': /^\/\/[!/]? ?\S/,
  '.mjs': /^\/\/ ?\S|^\/\*/,
  '.js': /^\/\/ ?\S|^\/\*/,
  '.css': /^\/\* ?\S/,
  '.sh': /^(#!.*\n)?# ?[^!\s]/,
  '.toml': /^# ?\S/,
  '.yaml': /^# ?\S/,
  '.yml': /^# ?\S/,
  '.mod': /^\/\/ ?\S/,
};
const namedStarts = { dev: starts['.sh'], run: starts['.sh'], Dockerfile: starts['.sh'], '.dockerignore': starts['.sh'], '.editorconfig': starts['.sh'] };
// Data and documents may be long and have their own form; programs, styles and texts may not.
const counted = new Set(['.rs', '.mjs', '.js', '.css', '.sh', '.toml']);

/** Findings about one source file. Data for tests (in a folder `cases`, `data` or `fixtures`) needs no first line. */
export function checkSource(path, text) {
  const findings = [];
  const start = namedStarts[basename(path)] ?? starts[extname(path)];
  const isData = /(^|\/)(cases|data|fixtures)\//.test(path) && /\.ya?ml$/.test(path);
  if (start && !isData && !start.test(text)) findings.push(`${path}: the first line must be a comment that says what this file is`);
  const lines = text.split('\n').length - 1;
  if ((counted.has(extname(path)) || basename(path) === 'dev') && lines > maxLines) {
    findings.push(`${path}: ${lines} lines; split it (at most ${maxLines}, 100 to 250 read best)`);
  }
  return findings;
}

function main() {
  process.chdir(resolve(dirname(fileURLToPath(import.meta.url)), '..'));
  const findings = [];
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8', maxBuffer: 1 << 26 });
  const files = listed.split('\0').filter((path) => path !== '' && existsSync(path));
  for (const path of files) findings.push(...checkSource(path, readFileSync(path, 'utf8')));

  // app/locales/LANGUAGE/PART.json: a text's key is PART and its path in the file.
  const locales = {};
  for (const name of filesUnder(localeFolder).filter((path) => path.endsWith('.json'))) {
    const [language, ...part] = name.slice(0, -'.json'.length).split('/');
    const text = readFileSync(join(localeFolder, name), 'utf8');
    try {
      (locales[language] ??= {})[part.join('/')] = JSON.parse(text);
      findings.push(...duplicateKeys(text).map((key) => `${localeFolder}/${name}: the key '${key}' is there twice`));
    } catch (e) {
      findings.push(`${localeFolder}/${name}: ${e.message}`);
    }
  }
  if (Object.keys(locales).length < 2) findings.push(`${localeFolder}: fewer than two languages, so nothing to compare`);
  findings.push(...compareLocales(locales).map((finding) => `${localeFolder}/${finding}`));

  for (const finding of findings) console.log(finding);
  console.log(findings.length === 0 ? `${files.length} files looked at, nothing found` : `${findings.length} findings`);
  process.exitCode = findings.length === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
