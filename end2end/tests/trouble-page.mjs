// The page Trouble: orders are carried out, shown, felt and ended.
import { until } from '../lib/server.mjs';
import { isLive } from '../lib/page.mjs';

// A world of its own: these tests make trouble. While the API is busy, what the page itself asks for may fail.
export const options = { own: true, allow: ['404 (Not Found)', '429 (Too Many Requests)', '502 (Bad Gateway)'] };

const trouble = async (server) => (await fetch(`${server.url}sandbox/trouble`)).json();

async function open(page, server, query = '') {
  await page.goto(`${server.url}sandbox${query}`);
  await isLive(page);
  await page.getByRole('heading', { name: 'Nodes' }).waitFor();
}

export const tests = {
  async 'trouble of the API server begins, runs down and ends'({ page, server }) {
    await page.goto(server.url);
    await page.getByRole('link', { name: 'make trouble' }).click();
    await page.getByRole('heading', { name: 'Trouble', exact: true }).waitFor();
    const all = page.getByRole('button', { name: 'End all trouble' });
    await page.getByRole('heading', { name: 'Nodes' }).waitFor();
    if (!await all.isDisabled()) throw new Error('nothing goes on, and yet it could be ended');
    await page.getByRole('button', { name: 'Conflicts (409): 25 %' }).click();
    await page.getByRole('button', { name: 'Late watches: 5s' }).click();
    await page.locator('.orders li.on .now', { hasText: '25 %' }).waitFor();
    await page.locator('.orders li.on .now', { hasText: '5s' }).waitFor();
    const seen = await trouble(server);
    if (seen.conflictPercent !== 25 || seen.watchDelaySeconds !== 5) throw new Error(JSON.stringify(seen));
    await page.getByRole('button', { name: 'Conflicts (409): End' }).click();
    await until('the conflicts ended', async () => (await trouble(server)).conflictPercent === 0);
    await page.getByRole('button', { name: 'Busy (429): 2m' }).click();
    await page.locator('.orders li.on', { hasText: 'Busy' }).waitFor();
    await all.click();
    await until('all of it ended', async () => {
      const { throttledSeconds, watchDelaySeconds } = await trouble(server);
      return throttledSeconds === 0 && watchDelaySeconds === 0;
    });
    await page.locator('.orders li.on').first().waitFor({ state: 'detached' });
  },

  async 'a server crashes once and is Ready again'({ page, server }) {
    await until('the set is Ready', async () => (await server.api('gameservers?q=set:arena-match state:Ready&limit=1')).matched === 24);
    await open(page, server, '?pod=prod/arena-match-3');
    await page.getByRole('button', { name: 'Begin' }).click();
    await page.locator('.orders li.on', { hasText: 'prod/arena-match-3' }).filter({ hasText: 'crashes once' }).waitFor();
    const row = async () => (await server.api('gameservers?q=name:arena-match-3&limit=1')).rows[0];
    await until('it crashed', async () => (await row()).restarts === 1);
    await until('it is Ready again', async () => (await row()).state === 'Ready');
    await page.getByRole('button', { name: 'prod/arena-match-3: crashes once: End' }).click();
    await page.getByText('No server has trouble on purpose.').waitFor();
  },

  async 'a name that is none cannot be ordered, and an unknown one is refused in words'({ page, server }) {
    await open(page, server);
    const input = page.getByLabel('Server', { exact: true });
    await input.fill('not a name');
    await page.getByText('namespace/name, or a name in the namespace default').waitFor();
    if (!await page.getByRole('button', { name: 'Begin' }).isDisabled()) throw new Error('it can be ordered');
    await input.fill('prod/nobody-0');
    await page.getByRole('button', { name: 'Begin' }).click();
    await page.getByRole('alert').filter({ hasText: 'nobody-0' }).waitFor();
  },

  async 'a node goes down and comes back'({ page, server }) {
    await open(page, server);
    await page.getByRole('button', { name: 'sim-node-1: Take down' }).click();
    await page.locator('.orders li.on', { hasText: 'sim-node-1' }).waitFor();
    await page.getByRole('button', { name: 'sim-node-1: Bring up' }).click();
    await until('it is up', async () => (await trouble(server)).nodes.every((node) => node.ready && !node.down));
  },
};
