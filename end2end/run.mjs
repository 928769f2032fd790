// Runner of the browser tests: starts pilothouse, opens a real Chromium, runs every test, counts.
//
//   node run.mjs [NAME]      only tests whose name holds NAME
//
// Reads PILOTHOUSE_BIN (the server), CHROMIUM (the browser), PILOTHOUSE_TEST_KUBECONFIG (a real control plane with
// our resources and simulated nodes; tests that need one are left out without it), PILOTHOUSE_TEST_SITE (the site; tests of what only a
// release site has are left out without one).
// The last line is `N passed, N failed[, N skipped]`; a screenshot of each failure lies in target/end2end/.
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { startServer, root, site } from './lib/server.mjs';

const wanted = process.argv[2] ?? '';
const shots = join(root, 'target', 'end2end');
mkdirSync(shots, { recursive: true });

const tests = [];
const folder = join(dirname(fileURLToPath(import.meta.url)), 'tests');
for (const file of readdirSync(folder).filter((name) => name.endsWith('.mjs')).sort()) {
  const module = await import(pathToFileURL(join(folder, file)));
  for (const [name, run] of Object.entries(module.tests)) {
    tests.push({ name: `${file.replace('.mjs', '')}: ${name}`, run, options: module.options ?? {} });
  }
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
  headless: true,
  args: [
    '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync',
  ],
});

// One server for all tests of one world, so that the suite stays short; a test that breaks things asks for its own.
const servers = new Map();
async function serverFor(options) {
  if (options.cluster) options = { ...options, args: ['--kubeconfig', process.env.PILOTHOUSE_TEST_KUBECONFIG] };
  const key = JSON.stringify([options.args, options.world]);
  if (options.own) return startServer(options);
  if (!servers.has(key)) servers.set(key, await startServer(options));
  return servers.get(key);
}

let passed = 0, failed = 0, skipped = 0;
for (const { name, run, options } of tests) {
  if (!name.includes(wanted)) continue;
  if (options.cluster && !process.env.PILOTHOUSE_TEST_KUBECONFIG) {
    console.log(`skip  ${name} (no real control plane: PILOTHOUSE_TEST_KUBECONFIG is not set)`);
    skipped++;
    continue;
  }
  if (options.cut && !existsSync(join(site, 'pkg', 'chunks.json'))) {
    console.log(`skip  ${name} (a debug site is not cut into chunks: PILOTHOUSE_TEST_SITE names a release one)`);
    skipped++;
    continue;
  }
  const began = Date.now();
  const problems = [];
  let context, page, server;
  try {
    server = await serverFor(options);
    context = await browser.newContext({ viewport: { width: 1360, height: 860 }, locale: 'en-US', ...options.context });
    page = await context.newPage();
    const listen = (opened) => {
      opened.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) problems.push(`console: ${message.text()}`);
      });
      opened.on('pageerror', (error) => problems.push(`page error: ${error.message}`));
    };
    context.on('page', listen);
    listen(page);
    await run({ page, context, server, problems });
    const unexpected = problems.filter((text) => !(options.allow ?? []).some((allowed) => text.includes(allowed)));
    if (unexpected.length > 0) throw new Error(`the browser complained:\n    ${[...new Set(unexpected)].join('\n    ')}`);
    passed++;
    console.log(`ok    ${name} (${Date.now() - began} ms)`);
  } catch (error) {
    failed++;
    console.log(`FAIL  ${name}\n  ${String(error.stack ?? error).split('\n').slice(0, 12).join('\n  ')}`);
    const file = join(shots, `${name.replaceAll(/[^a-z0-9]+/gi, '-')}.png`);
    await page?.screenshot({ path: file }).catch(() => {});
    console.log(`  screenshot: ${file}`);
    if (server) console.log(`  server said:\n    ${server.tail().join('\n    ')}`);
  } finally {
    await context?.close().catch(() => {});
    if (options.own) await server?.stop();
  }
}
await browser.close();
for (const server of servers.values()) await server.stop();
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exit(failed > 0 ? 1 : 0);
