// What an operator comes for: filter, select, preview, apply, see the result per server; a second window shows the same;
// the set is scaled down and exactly those servers go.
import { until } from '../lib/server.mjs';
import { isLive, selectFirst } from '../lib/page.mjs';

export const options = { own: true };

async function opsThenScale({ page, context, server }, set, count) {
  const total = await until('all servers Ready', async () => {
    const window = await server.api(`gameservers?q=set:${set} state:Ready&limit=1`);
    const all = await server.api(`gameservers?q=set:${set}&limit=1`);
    return window.matched > 0 && window.matched === all.matched && window.matched;
  });

  const second = await context.newPage();
  await second.goto(`${server.url}servers?q=set:${set} ops:WaitToBeDeleted`);
  await isLive(second);

  await page.goto(`${server.url}servers?q=set:${set}`);
  await isLive(page);
  await selectFirst(page, count);
  const names = (await server.api(`gameservers?q=set:${set}&limit=${count}`)).rows.map((row) => row.key);
  await page.keyboard.press('e');
  await page.locator('.drawer').getByRole('button', { name: 'WaitToBeDeleted' }).click();
  const go = page.locator('.drawer footer .go');
  await go.filter({ hasText: `Set ${count} servers to WaitToBeDeleted` }).waitFor();
  await go.click();
  await page.locator('.drawer').filter({ hasText: `${count} servers changed` }).waitFor();

  await until('the second window shows them', async () =>
    (await second.locator('main').innerText()).includes(`${count} of`));

  const batches = await server.api('batches');
  const batch = await server.api(`batches/${batches[0].name}`);
  if (batch.phase !== 'Done') throw new Error(`the batch is ${batch.phase}`);
  const changed = batch.results.filter((result) => result.outcome === 'changed').map((result) => result.key);
  if (changed.sort().join() !== [...names].sort().join()) throw new Error('other servers were changed than were selected');

  const [family, namespace] = names[0].split('/');
  await page.goto(`${server.url}sets/${family}/${namespace}/${set}`);
  await isLive(page);
  await page.locator('main input[inputmode=numeric], main input[type=number]').first().fill(String(total - count));
  await page.getByRole('button', { name: 'Preview' }).click();
  const confirm = page.getByRole('button', { name: new RegExp(`${total} → ${total - count}`) });
  await confirm.waitFor();
  await confirm.click();
  await until('exactly the marked servers are gone', async () => {
    const left = (await server.api(`gameservers?q=set:${set}&limit=1000`)).rows.map((row) => row.key);
    if (left.length !== total - count) return false;
    return left.every((key) => !names.includes(key));
  });
}

export const tests = {
  'forty servers are marked and exactly those go': (test) => opsThenScale(test, 'minecraft-eu', 40),
};

export { opsThenScale };
