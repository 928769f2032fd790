// Lays out target/site beside the compiled pages: bundles the styles, copies public/, and in release compresses what a browser loads.
// Usage: node tools/site.mjs debug|release
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, extname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/**
 * One style sheet from an entry file: each `@import "x.css";` is replaced by that file's text, in order, each file once.
 * `read` maps a path to its text. Throws when an import has another form or goes in a circle.
 */
export function bundleCss(entry, read) {
  const done = new Set();
  const open = [];
  const visit = (path) => {
    if (open.includes(path)) throw new Error(`styles import each other in a circle: ${[...open, path].join(' -> ')}`);
    if (done.has(path)) return '';
    open.push(path);
    const text = read(path).replace(/\/\*[\s\S]*?\*\/|^[ \t]*@import\b([^;]*);[ \t]*\n?/gm, (whole, what) => {
      if (what === undefined) return whole; // a comment
      const name = /^\s*(?:url\(\s*)?["']([^"']+\.css)["']\s*\)?\s*$/.exec(what);
      if (!name) throw new Error(`${path}: only @import "file.css"; is understood, not "@import${what};"`);
      return visit(join(dirname(path), name[1]));
    });
    open.pop();
    done.add(path);
    return text.endsWith('\n') || text === '' ? text : `${text}\n`;
  };
  return visit(entry);
}

/** All files under a folder, relative to it, in a fixed order. */
export function filesUnder(folder, at = folder) {
  if (!existsSync(at)) return [];
  return readdirSync(at, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((e) => (e.isDirectory() ? filesUnder(folder, join(at, e.name)) : [relative(folder, join(at, e.name))]));
}

/** Writes only what differs, so that nothing that embeds the file is built again without need. */
function writeIfDifferent(path, content) {
  const bytes = Buffer.from(content);
  if (existsSync(path) && readFileSync(path).equals(bytes)) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
}

const compressible = new Set(['.js', '.wasm', '.css', '.svg', '.html', '.json', '.txt', '.webmanifest']);

/** Puts FILE.br and FILE.gz beside a file, unless they are there and newer. Under 1 kB it does not pay. */
function compress(path) {
  const { mtimeMs, size } = statSync(path);
  if (!compressible.has(extname(path)) || size < 1024) return;
  if (existsSync(`${path}.br`) && statSync(`${path}.br`).mtimeMs >= mtimeMs) return;
  const bytes = readFileSync(path);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: size };
  writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params }));
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
}

/** What belongs to the chunks of a release build, relative to pkg/. */
function chunkFiles(pkg) {
  const list = 'chunks.json';
  const chunks = JSON.parse(readFileSync(join(pkg, list), 'utf8'));
  return [list, '__wasm_split.js', ...Object.values(chunks).flat()];
}

function main(mode) {
  if (mode !== 'debug' && mode !== 'release') throw new Error('usage: node tools/site.mjs debug|release');
  const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
  const out = join(root, 'target/site');
  const pkg = join(out, 'pkg');

  writeIfDifferent(join(pkg, 'pilothouse.css'), bundleCss(join(root, 'style/main.css'), (p) => readFileSync(p, 'utf8')));

  const wanted = new Set(filesUnder(join(root, 'public')));
  for (const name of wanted) writeIfDifferent(join(out, name), readFileSync(join(root, 'public', name)));
  // What public/ no longer has goes, and what an earlier build left; compressed forms go in debug builds, where the plain file changes
  // all the time.
  const built = new Set(['js', 'wasm', 'css'].map((kind) => `pkg/pilothouse.${kind}`));
  // Only a release build is cut into chunks.
  if (mode === 'release') for (const name of chunkFiles(pkg)) built.add(`pkg/${name}`);
  for (const name of filesUnder(out)) {
    const plain = name.replace(/\.(br|gz)$/, '');
    const made = built.has(plain) || name.startsWith('pkg/snippets/') || wanted.has(plain);
    if (!made || (plain !== name && mode === 'debug' && !wanted.has(name))) rmSync(join(out, name));
  }
  if (mode === 'release') for (const name of filesUnder(out)) compress(join(out, name));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    main(process.argv[2]);
  } catch (e) {
    console.error(`site: ${e.message}`);
    process.exitCode = 1;
  }
}
