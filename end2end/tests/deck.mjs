// The deck: names under the pointer, regions, keyboard, legend, colours, table. Nothing here changes the world.
import { until } from '../lib/server.mjs';
import { isLive } from '../lib/page.mjs';

async function open(page, server, path = '') {
  await until('the world is Ready', async () => (await server.api('gameservers?q=set:minecraft-eu state:Ready&limit=1')).matched === 48);
  await page.goto(server.url + path);
  await isLive(page);
  await page.locator('.deck-cells canvas').first().waitFor();
}

// The middle of a cell in the deck's own coordinates; cells of few servers are 18 px with 3 px between them.
const at = (column, row) => ({ x: column * 21 + 9, y: 30 + row * 21 + 9 });

export const tests = {
  async 'a cell is named under the pointer and opened by a click'({ page, server }) {
    await open(page, server);
    await page.locator('.deck-cells').hover({ position: at(3, 0) });
    const tip = page.locator('.deck-tip');
    await tip.filter({ hasText: 'minecraft-eu-3' }).waitFor();
    await tip.filter({ hasText: 'Ready' }).waitFor();
    await page.locator('.deck-cells').click({ position: at(3, 0) });
    await page.waitForURL(/servers\/kruise\/default\/minecraft-eu-3/);
    await page.locator('h1').filter({ hasText: 'minecraft-eu-3' }).waitFor();
  },

  async 'a drag selects a region, and once more unselects it'({ page, server }) {
    await open(page, server);
    const box = await page.locator('.deck-cells').boundingBox();
    const drag = async () => {
      const [from, to] = [at(1, 0), at(4, 1)];
      await page.mouse.move(box.x + from.x, box.y + from.y);
      await page.mouse.down();
      await page.mouse.move(box.x + to.x, box.y + to.y, { steps: 4 });
      await page.locator('.deck-region').filter({ hasText: '8 servers' }).waitFor();
      await page.mouse.up();
    };
    await drag();
    await page.locator('.selbar').filter({ hasText: '8 selected' }).waitFor();
    await drag();
    await page.locator('.selbar').waitFor({ state: 'detached' });
  },

  async 'the keyboard moves, selects and opens'({ page, server }) {
    await open(page, server);
    await page.locator('.deck-cells').focus();
    for (const key of ['ArrowRight', 'ArrowRight', 'x', 'Shift+ArrowRight']) await page.keyboard.press(key);
    await page.locator('.selbar').filter({ hasText: '2 selected' }).waitFor();
    await page.locator('[aria-live]').filter({ hasText: 'minecraft-eu-3, Ready, None selected' }).waitFor({ state: 'attached' });
    await page.keyboard.press('Enter');
    await page.waitForURL(/minecraft-eu-3/);
  },

  async 'legend and colours are links that filter and colour'({ page, server }) {
    await open(page, server);
    await page.getByRole('link', { name: 'Node', exact: true }).click();
    await page.waitForURL(/by=node/);
    const node = page.locator('.legend .chip').first();
    await node.filter({ hasText: 'sim-node' }).click();
    await page.waitForURL(/q=node:sim-node/);
    await page.locator('.legend .chip[aria-current]').waitFor();
    await page.locator('.legend .chip[aria-current]').click();
    await until('the filter is gone', () => !page.url().includes('q='));
    await page.getByRole('link', { name: 'Table', exact: true }).click();
    await page.locator('.deck-twin').getByRole('link', { name: '48' }).first().click();
    await page.waitForURL(/servers\?.*set:default\/minecraft-eu/);
  },
};
