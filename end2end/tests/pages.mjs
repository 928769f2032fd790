// Every page: with and without script, in both themes, in three languages, on a narrow window, wrong filters, keyboard.
import { until } from '../lib/server.mjs';
import { fitsSideways, isLive } from '../lib/page.mjs';

const paths = ['', 'servers', 'sets', 'sets/kruise/prod/arena-match', 'servers/kruise/prod/arena-match-0', 'batches'];

async function ready(server) {
  await until('the world is Ready', async () => (await server.api('totals').catch(() => null), 
    (await server.api('gameservers?q=ns:prod state:Ready&limit=1')).matched === 24));
}

export const tests = {
  async 'become live and complain about nothing'({ page, server }) {
    await ready(server);
    for (const path of paths) {
      await page.goto(server.url + path);
      await isLive(page);
    }
  },

  async 'read without script'({ server, context }) {
    await ready(server);
    const plain = await context.browser().newContext({ javaScriptEnabled: false });
    const page = await plain.newPage();
    for (const [path, text] of [
      ['', 'arena-match'], ['servers?q=set:arena-match', 'arena-match-23'], ['sets', 'arena-match'],
      ['sets/kruise/prod/arena-match', '24'], ['servers/kruise/prod/arena-match-0', 'arena:3.8.1'],
    ]) {
      await page.goto(server.url + path);
      const shown = await page.locator('main').innerText();
      if (!shown.replaceAll('\n', '').includes(text)) throw new Error(`/${path} does not show ${text}:\n${shown.slice(0, 600)}`);
    }
    await plain.close();
  },

  async 'fit a narrow window in both themes and three languages'({ page, server }) {
    await ready(server);
    await page.setViewportSize({ width: 390, height: 844 });
    for (const lang of ['en', 'zh', 'ja']) {
      for (const theme of ['dark', 'light']) {
        for (const path of paths) {
          await page.goto(`${server.url}${path}?lang=${lang}&theme=${theme}`);
          const html = page.locator('html');
          if ((await html.getAttribute('data-theme')) !== theme) throw new Error(`theme is not ${theme}`);
          if (!(await html.getAttribute('lang')).startsWith(lang)) throw new Error(`language is not ${lang}`);
          await fitsSideways(page);
        }
      }
    }
  },

  async 'a wrong filter is pointed at and the stream goes on'({ page, server }) {
    await page.goto(`${server.url}servers?q=state:Ready (`);
    await isLive(page);
    const refused = await fetch(new URL('api/v1/gameservers?q=nonsense:1', server.url));
    const body = await refused.json();
    if (refused.status !== 400 || body.span?.[0] !== 0) throw new Error(`answered ${refused.status} ${JSON.stringify(body)}`);
    const sort = await fetch(new URL('api/v1/gameservers?sort=nonsense', server.url));
    if (sort.status !== 400) throw new Error(`an unknown sort key answered ${sort.status}`);
    await page.goto(`${server.url}servers?q=set:arena-match`);
    await page.locator('tbody').getByRole('checkbox').first().waitFor();
  },

  async 'the keyboard goes to pages and selects'({ page, server }) {
    await ready(server);
    await page.goto(`${server.url}servers?q=set:arena-match`);
    await isLive(page);
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.locator('.selbar').filter({ hasText: '1 selected' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('g');
    await page.keyboard.press('t');
    await page.waitForURL(/\/sets/);
    await page.keyboard.press('?');
    await page.getByRole('dialog').first().waitFor();
  },

  async 'an unknown page and an unknown server say so'({ server }) {
    for (const path of ['nowhere', 'servers/kruise/prod/nobody', 'sets/kruise/prod/nobody']) {
      const answer = await fetch(server.url + path);
      if (answer.status !== 404) throw new Error(`/${path} answered ${answer.status}`);
    }
  },

  async 'only loopback names and only requests with the header are let in'({ server }) {
    const write = await fetch(new URL('api/v1/batches/preview', server.url), { method: 'POST', body: '{}' });
    if (write.status !== 403) throw new Error(`a write without the header answered ${write.status}`);
    const policy = (await fetch(server.url)).headers.get('content-security-policy');
    if (!/script-src 'self' 'nonce-/.test(policy) || /unsafe-inline/.test(policy)) throw new Error(`policy: ${policy}`);
  },
};

export const options = { allow: ['404', '400'] };
