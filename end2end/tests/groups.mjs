// Servers in groups: heads, folding, selecting a group, narrowing to it, the keyboard, without a script.
import { until } from '../lib/server.mjs';
import { fitsSideways, isLive } from '../lib/page.mjs';

async function open(page, server, query = '?group=set') {
  await until('both sets are there', async () => (await server.api('gameservers?limit=1')).matched === 72);
  await page.goto(`${server.url}servers${query}`);
  await isLive(page);
}

const head = (page, name) => page.locator('tr.group').filter({ hasText: name });

// The ids that show, in order.
const names = (page) => page.locator('tr.row .server').evaluateAll((links) => links.map((link) => link.textContent));

export const tests = {
  async 'the table is grouped by hand, and the address keeps it'({ page, server }) {
    await open(page, server, '');
    await page.locator('.grouping summary').click();
    await page.locator('.grouping').getByRole('link', { name: 'Node', exact: true }).click();
    await head(page, 'sim-node-0').waitFor();
    if (await page.locator('.grouping .sheet-over').isVisible()) throw new Error('the list stays open');
    if (!page.url().endsWith('servers?group=node')) throw new Error(page.url());
    await page.locator('.grouping summary').click();
    await page.getByLabel('Label key').fill('region');
    await page.keyboard.press('Enter');
    await head(page, 'eu').waitFor();
    if (!page.url().includes('group=label.region')) throw new Error(page.url());
    await page.locator('.grouping summary').click();
    await page.keyboard.press('Escape');
    if (await page.locator('.grouping .sheet-over').isVisible()) throw new Error('Esc does not close the list');
  },

  async 'a group folds to its head and opens again'({ page, server }) {
    await open(page, server);
    const first = head(page, 'minecraft-eu');
    await first.getByRole('button', { name: 'Rows of minecraft-eu · default' }).click();
    await page.waitForFunction(() => ![...document.querySelectorAll('tr.row .server')].some((link) => link.textContent.startsWith('minecraft')));
    if ((await names(page)).length !== 24) throw new Error(`shown: ${await names(page)}`);
    if (await first.getByRole('button', { expanded: false }).count() !== 1) throw new Error('it does not say that it is folded');
    await first.getByRole('button', { name: 'Rows of' }).click();
    await page.locator('tr.row').filter({ hasText: 'minecraft-eu-0' }).first().waitFor();
  },

  async 'a group is selected whole, also rows that are far below'({ page, server }) {
    await open(page, server);
    await head(page, 'minecraft-eu').getByRole('button', { name: 'Select the servers of' }).click();
    await page.locator('.selbar').filter({ hasText: '48 selected' }).waitFor();
  },

  async 'a click on a head narrows the filter to the group'({ page, server }) {
    await open(page, server, '?group=set&q=id:0-9');
    await head(page, 'arena-match').getByRole('link').click();
    await page.waitForFunction(() => document.querySelectorAll('tr.group').length === 1);
    const shown = await names(page);
    if (shown.length !== 10 || !shown.every((name) => name.startsWith('arena-match'))) throw new Error(`shown: ${shown}`);
    if (new URL(page.url()).searchParams.get('group') !== 'set') throw new Error(`the groups are lost: ${page.url()}`);
  },

  async 'the keyboard steps over heads, and a head stays while its rows pass'({ page, server }) {
    await open(page, server);
    const box = page.locator('.tablebox');
    await box.focus();
    for (let step = 0; step < 50; step++) await page.keyboard.press('j');
    await page.locator('tr.cur').filter({ hasText: 'arena-match-1' }).waitFor();
    await page.keyboard.press('k');
    await page.keyboard.press('k');
    await page.locator('tr.cur').filter({ hasText: 'minecraft-eu-48' }).waitFor();
    const top = (await box.boundingBox()).y + 30;
    const stuck = (await head(page, 'minecraft-eu').first().locator('td').boundingBox()).y;
    if (Math.abs(stuck - top) > 2) throw new Error(`the head is at ${stuck}, the header ends at ${top}`);
  },

  async 'what it cannot be grouped by is said'({ page, server, problems }) {
    await open(page, server, '?group=moon');
    await page.getByText('Servers cannot be grouped or coloured by moon').waitFor();
    if (await page.locator('#filter-error').innerText() !== '') throw new Error('the filter box is blamed');
    problems.length = 0;
  },

  async 'groups can be read without a script and fit a narrow window'({ context, server }) {
    const page = await (await context.browser().newContext({ javaScriptEnabled: false, viewport: { width: 390, height: 800 } })).newPage();
    await page.goto(`${server.url}servers?group=set`);
    await head(page, 'arena-match').waitFor();
    await page.locator('.grouping summary').click();
    await page.locator('.grouping').getByRole('link', { name: 'State', exact: true }).click();
    await head(page, 'Ready').waitFor();
    await page.context().close();
    const narrow = await (await context.browser().newContext({ viewport: { width: 390, height: 800 } })).newPage();
    await narrow.goto(`${server.url}servers?group=set`);
    await isLive(narrow);
    await fitsSideways(narrow);
    await narrow.context().close();
  },
};
