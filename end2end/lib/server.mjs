// A pilothouse process for a test: started on a free port, its address read from what it prints, ended by its pid.
import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
// The built site that servers serve unless a test says otherwise.
export const site = process.env.PILOTHOUSE_TEST_SITE ?? join(root, 'target', 'site');

// The world of most tests: two sets, 48 and 24 servers, all well.
export const twoSets = join(root, 'end2end', 'worlds', 'two-sets.yaml');

// Starts a server. `args` replace the sandbox's; `world` is a --sandbox-world; `base` a --base-path.
export async function startServer({ args, world = twoSets, base = '', site: files = site } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
  const kubeconfig = join(folder, 'kubeconfig');
  const own = args ?? ['--sandbox', '--sandbox-world', world, '--sandbox-kubeconfig', kubeconfig];
  const all = [...own, '--listen', '127.0.0.1:0', '--base-path', base, '--site', files];
  const child = spawn(process.env.PILOTHOUSE_BIN ?? join(root, 'target', 'debug', 'pilothouse'), all, {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines = [];
  const keep = (chunk) => {
    lines.push(...String(chunk).split('\n').filter(Boolean));
    lines.splice(0, Math.max(0, lines.length - 200));
  };
  child.stderr.on('data', keep);
  const url = await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`pilothouse printed no address:\n${lines.join('\n')}`)), 60_000);
    let text = '';
    child.stdout.on('data', (chunk) => {
      keep(chunk);
      text += chunk;
      const found = /Pilothouse\s+(http:\S+)/.exec(text);
      if (found) {
        clearTimeout(timer);
        resolve(found[1]);
      }
    });
    child.on('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`pilothouse ended with ${code}:\n${lines.join('\n')}`));
    });
  });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  return {
    url,
    kubeconfig,
    pid: child.pid,
    tail: () => lines.slice(-15),
    // A request of the REST API; throws with the body when it is refused.
    async api(path, options = {}) {
      const body = options.body === undefined ? undefined : JSON.stringify(options.body);
      const headers = { 'x-pilothouse': '1', 'content-type': 'application/json' };
      const answer = await fetch(new URL(`api/v1/${path}`, url), { ...options, body, headers });
      const text = await answer.text();
      if (!answer.ok) throw Object.assign(new Error(`${answer.status} ${text}`), { status: answer.status });
      return text === '' ? null : JSON.parse(text);
    },
    async stop() {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await ended;
      clearTimeout(timer);
    },
  };
}

// Asks again until the answer is true; fails with what was wanted.
export async function until(what, ask, ms = 30_000) {
  const end = Date.now() + ms;
  let last;
  while (Date.now() < end) {
    try {
      last = await ask();
      if (last) return last;
    } catch (error) {
      last = error;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`waited ${ms} ms for: ${what}; last: ${last instanceof Error ? last.message : JSON.stringify(last)}`);
}
