// The deck's pixels follow the data and the theme.
import { until } from '../lib/server.mjs';
import { isLive } from '../lib/page.mjs';

// A world of its own: the test changes it. The browser would like to be told that the canvas is read, but only here it is.
export const options = { own: true, allow: ['readback operations'] };

// The colour of a point of a canvas, as numbers.
const colour = (page, canvas, { x, y }) => page.evaluate(([index, x, y]) => {
  const canvas = document.querySelectorAll('.deck-cells canvas')[index];
  return [...canvas.getContext('2d').getImageData(x * devicePixelRatio, y * devicePixelRatio, 1, 1).data];
}, [canvas, x, y]);

export const tests = {
  async 'a change is painted, in both themes'({ page, server }) {
    await until('the world is Ready', async () => (await server.api('gameservers?q=state:Ready&limit=1')).matched === 72);
    await page.goto(server.url);
    await isLive(page);
    await page.locator('.deck-cells canvas').first().waitFor();
    const where = { x: 9, y: 3 };
    const before = await colour(page, 0, where);
    // Away from the cell: a glow or an outline would be another colour.
    await server.api('batches', {
      method: 'POST',
      body: {
        target: { keys: ['kruise/default/minecraft-eu-0'] }, change: { opsState: 'Allocated' }, idempotencyKey: 'deck-paints-a-change',
      },
    });
    await page.locator('.legend .chip').filter({ hasText: 'Allocated' }).waitFor();
    const changed = async (from) => until('the cell has another colour', async () => {
      const now = await colour(page, 0, where);
      return now.join() !== from.join() && now[3] === 255 && now;
    });
    await changed(before);
    const night = await until('the glow is over', async () => {
      const one = await colour(page, 0, where);
      await page.waitForTimeout(300);
      const two = await colour(page, 0, where);
      return one.join() === two.join() && one;
    });
    await page.evaluate(() => { document.documentElement.dataset.theme = 'light'; });
    await changed(night);
  },
};
