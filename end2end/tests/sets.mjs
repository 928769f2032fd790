// Sets: the list, one set with its ids, scale with preview.
import { until } from '../lib/server.mjs';
import { isLive } from '../lib/page.mjs';

// A world of its own: these tests change it.
export const options = { own: true, allow: ['409 (Conflict)'] };

const path = 'sets/kruise/prod/arena-match';

async function open(page, server) {
  await until('the set is Ready', async () => (await server.api('gameservers?q=set:arena-match state:Ready&limit=1')).matched === 24);
  await page.goto(server.url + path);
  await isLive(page);
}

async function preview(page, replicas) {
  await page.locator('#scale-to').fill(String(replicas));
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.locator('.scale-preview .go').waitFor();
}

export const tests = {
  async 'a scale down names who goes and why, and exactly those go'({ page, server }) {
    await server.api('batches', {
      method: 'POST',
      body: {
        target: { keys: ['kruise/prod/arena-match-5'] }, change: { opsState: 'WaitToBeDeleted' }, idempotencyKey: 'marks-number-five',
      },
    });
    await until('it is marked', async () => (await server.api('gameservers?q=ops:WaitToBeDeleted&limit=1')).matched === 1);
    await open(page, server);
    await preview(page, 22);
    const lines = await page.locator('.leaving li').allInnerTexts();
    if (lines.length !== 2 || !lines[0].includes('arena-match-5') || !lines[0].includes('WaitToBeDeleted')
      || !lines[1].includes('arena-match-23') || !lines[1].includes('highest')) throw new Error(`goes: ${lines}`);
    if (await page.locator('.id.leaves').count() !== 2) throw new Error('the strip does not show who goes');
    await page.getByRole('button', { name: 'Scale 24 → 22: remove 2 servers' }).click();
    await page.locator('.scale-preview').filter({ hasText: 'Scaled 24 → 22' }).waitFor();
    const left = await until('two are gone', async () => {
      const { rows, matched } = await server.api('gameservers?q=set:arena-match&limit=100');
      return matched === 22 && rows.map((row) => row.id);
    });
    if (left.includes(5) || left.includes(23) || !left.includes(22)) throw new Error(`left: ${left}`);
    await page.locator('.id.implicit').first().waitFor();
  },

  async 'a set that changed since the preview is not scaled'({ page, server }) {
    await open(page, server);
    await preview(page, 20);
    await server.api('gameserversets/kruise/prod/arena-match/scale', { method: 'POST', body: { replicas: 25 } });
    await page.locator('.scale-preview .warn').filter({ hasText: 'changed since this preview' }).waitFor();
    await page.locator('.scale-preview .acts .go').click();
    await page.locator('.scale-preview .warn').filter({ hasText: 'Not scaled' }).waitFor();
    const { row } = await server.api('gameserversets/kruise/prod/arena-match');
    if (row.wanted !== 25) throw new Error(`wanted is ${row.wanted}`);
    await page.getByRole('button', { name: 'Look again' }).click();
    await page.getByRole('button', { name: /Scale 25 → 20: remove/ }).waitFor();
  },

  async 'a scale up names the ids that join, and a number that is none is refused'({ page, server }) {
    await open(page, server);
    await preview(page, 26);
    await page.locator('.scale-preview').filter({ hasText: '24, 25' }).waitFor();
    await page.locator('#scale-to').fill('many');
    if (!await page.getByRole('button', { name: 'Preview' }).isDisabled()) throw new Error('a word can be previewed');
    await page.locator('.why-off').filter({ hasText: 'whole number' }).waitFor();
  },

  async 'the YAML is fetched when it is asked for'({ page, server }) {
    await open(page, server);
    await page.getByRole('button', { name: 'YAML', exact: true }).click();
    await page.locator('pre.yaml').filter({ hasText: 'kind: GameServerSet' }).waitFor();
  },

  async 'a server that goes while somebody looks says so'({ page, server }) {
    await open(page, server);
    await page.locator('a.id.live').last().click();
    await page.waitForURL(/servers\/kruise\/prod\/arena-match-23/);
    await page.locator('h1').filter({ hasText: 'arena-match-23' }).waitFor();
    await server.api('gameserversets/kruise/prod/arena-match/scale', { method: 'POST', body: { replicas: 20 } });
    await page.locator('.warn').filter({ hasText: 'was removed while you looked' }).waitFor();
    if (!await page.getByRole('button', { name: 'Change…' }).isDisabled()) throw new Error('a gone server can be changed');
  },
};
