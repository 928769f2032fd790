// When something stands in the way: the page says what, and recovers by itself.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crds, games, kube } from '../lib/kube.mjs';
import { lineTo } from '../lib/line.mjs';
import { isLive } from '../lib/page.mjs';
import { startServer, until } from '../lib/server.mjs';

// What the browser itself notes when the server answers 4xx and 5xx.
export const options = { allow: ['502', '503'] };

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

  async 'an API server that goes away is said since when, and nothing is lost'({ page, server }) {
    await until('the set is Ready', async () => (await server.api('gameservers?q=set:arena-match state:Ready&limit=1')).matched === 24);
    const line = await lineTo(server.kubeconfig);
    const other = await startServer({ args: ['--kubeconfig', line.kubeconfig] });
    try {
      await page.goto(`${other.url}servers?q=set:arena-match`);
      await isLive(page);
      line.cut();
      await page.locator('.live').filter({ hasText: /stale for/ }).waitFor();
      await page.locator('.band.trouble').filter({ hasText: 'The API server does not answer' }).waitFor();
      await page.locator('tbody').filter({ hasText: 'arena-match' }).waitFor();
      const refused = await other.api('gameserversets/kruise/prod/arena-match/scale', { method: 'POST', body: { replicas: 23 } })
        .then(() => null, (error) => error);
      if (refused?.status !== 502) throw new Error(`a write while it is away: ${refused}`);
      // Meanwhile the world goes on; what was missed must be there afterwards.
      await server.api('batches', {
        method: 'POST',
        body: { target: { keys: ['kruise/prod/arena-match-3'] }, change: { opsState: 'Maintaining' }, idempotencyKey: 'while-it-was-away' },
      });
      line.mend();
      await isLive(page);
      await page.locator('.band.trouble').waitFor({ state: 'detached' });
      await page.locator('tbody tr').filter({ hasText: 'Maintaining' }).first().waitFor();
      await server.api('batches', {
        method: 'POST',
        body: { target: { keys: ['kruise/prod/arena-match-3'] }, change: { opsState: 'None' }, idempotencyKey: 'after-it-was-away' },
      });
    } finally {
      line.close();
      await other.stop();
    }
  },

  async 'CRDs that are not installed are said with the command, which helps'({ page }) {
    const server = await startServer({ world: 'empty' });
    try {
      const api = kube(server.kubeconfig);
      const { items } = await api.get(crds);
      for (const { metadata } of items) await api.delete(`${crds}/${metadata.name}`);
      await page.goto(server.url);
      const band = page.locator('.band.trouble');
      await band.filter({ hasText: 'The CRDs are not installed' }).waitFor();
      await band.filter({ hasText: 'pilothouse crds | kubectl apply --server-side -f -' }).waitFor();
      // The command by hand: what it prints, one object after the other.
      const printed = spawnSync(process.env.PILOTHOUSE_BIN, ['crds'], { encoding: 'utf8' }).stdout;
      const objects = printed.split(/^---$/m).filter((text) => /^kind:/m.test(text));
      if (objects.length < 6) throw new Error(`pilothouse crds printed ${objects.length} objects`);
      for (const text of objects) {
        const name = /^metadata:\n(?:  .*\n)*?  name: (\S+)/m.exec(text)[1];
        await api.apply(/^kind: Namespace/m.test(text) ? `/api/v1/namespaces/${name}` : `${crds}/${name}`, text);
      }
      await band.waitFor({ state: 'detached' });
    } finally {
      await server.stop();
    }
  },

  async 'a set that is deleted while somebody looks says so'({ page }) {
    const server = await startServer();
    try {
      await until('the set is Ready', async () => (await server.api('gameservers?q=set:arena-match state:Ready&limit=1')).matched === 24);
      await page.goto(`${server.url}sets/kruise/prod/arena-match`);
      await isLive(page);
      await page.locator('a.id.live').first().waitFor();
      await kube(server.kubeconfig).delete(games('prod', 'gameserversets/arena-match'));
      await page.locator('.warn').filter({ hasText: 'was deleted while you looked' }).waitFor();
      await page.goto(`${server.url}sets`);
      await isLive(page);
      await page.locator('main').filter({ hasText: 'minecraft-eu' }).filter({ hasNotText: 'arena-match' }).waitFor();
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
