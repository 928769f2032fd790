// When something stands in the way: the page says what, and recovers by itself.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer, until } from '../lib/server.mjs';

function kubeconfigTo(server) {
  const file = join(mkdtempSync(join(tmpdir(), 'pilothouse-kubeconfig-')), 'kubeconfig');
  writeFileSync(file, `apiVersion: v1
kind: Config
current-context: x
contexts: [{name: x, context: {cluster: x, user: x}}]
clusters: [{name: x, cluster: {server: "${server}"}}]
users: [{name: x, user: {token: x}}]
`);
  return file;
}

export const tests = {
  async 'an API server that is away is said on the page'({ page }) {
    const server = await startServer({ args: ['--kubeconfig', kubeconfigTo('https://127.0.0.1:9')] });
    try {
      await page.goto(server.url);
      await until('the trouble is shown', async () => /API server/.test(await page.locator('body').innerText()));
      const readyz = await fetch(new URL('readyz', server.url));
      if (readyz.status !== 503) throw new Error(`readyz answered ${readyz.status}`);
    } finally {
      await server.stop();
    }
  },

  async 'a port in use and a missing kubeconfig end the start with a sentence'({ server }) {
    const bin = process.env.PILOTHOUSE_BIN;
    const port = new URL(server.url).port;
    const taken = spawnSync(bin, ['--sandbox', '--listen', `127.0.0.1:${port}`], { encoding: 'utf8' });
    if (taken.status === 0 || !/cannot listen on/.test(taken.stderr)) throw new Error(taken.stderr);
    const missing = spawnSync(bin, ['--kubeconfig', '/nowhere/kubeconfig', '--listen', '127.0.0.1:0'], { encoding: 'utf8' });
    if (missing.status === 0 || !/\/nowhere\/kubeconfig/.test(missing.stderr)) throw new Error(missing.stderr);
    const open = spawnSync(bin, ['--sandbox', '--listen', '0.0.0.0:0'], { encoding: 'utf8' });
    if (open.status === 0 || !/loopback/.test(open.stderr)) throw new Error(open.stderr);
  },

  async 'under a base path every link stays below it'({ page }) {
    const server = await startServer({ base: '/ops/games' });
    try {
      if (!server.url.endsWith('/ops/games/')) throw new Error(server.url);
      await page.goto(server.url);
      await page.locator('.live').filter({ hasText: 'live' }).waitFor({ timeout: 60_000 });
      await page.getByRole('link', { name: /Sets/ }).first().click();
      await page.waitForURL(/\/ops\/games\/sets/);
      await page.reload();
      await page.locator('.live').filter({ hasText: 'live' }).waitFor({ timeout: 60_000 });
    } finally {
      await server.stop();
    }
  },
};
