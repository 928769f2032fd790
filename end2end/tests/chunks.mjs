// A release site is cut into chunks: a page loads its own and no other, and one that does not come is said. A debug site is not cut.
import { isLive } from '../lib/page.mjs';
import { startServer } from '../lib/server.mjs';

// The last ones are what the browser itself and the loader note when a file does not come.
export const options = { cut: true, allow: ['Failed to load resource', 'Failed to fetch', 'ERR_FAILED'] };

// The names of the files that a page has the browser load as wasm.
function loaded(page) {
  const names = [];
  page.on('request', (request) => {
    const name = /\/pkg\/(?:chunks\/)?(\w+)[^/]*\.wasm$/.exec(new URL(request.url()).pathname)?.[1];
    if (name) names.push(name);
  });
  return names;
}

const pages = {
  '': 'deck',
  servers: 'servers',
  'servers/kruise/default/minecraft-eu-0': 'server',
  sets: 'sets',
  'sets/kruise/default/minecraft-eu': 'set',
  batches: 'batches',
};

async function eachPageLoadsItsOwn(context, url) {
  for (const [path, chunk] of Object.entries(pages)) {
    const page = await context.newPage();
    const names = loaded(page);
    await page.goto(`${url}${path}`);
    await isLive(page);
    const others = names.filter((name) => !['pilothouse', 'shared', 'details', chunk].includes(name));
    if (others.length > 0) throw new Error(`${path || 'deck'} also loads ${others}`);
    if (new Set(names).size !== names.length) throw new Error(`${path || 'deck'} loads a file twice: ${names}`);
    if (!names.includes(chunk)) throw new Error(`${path || 'deck'} does without ${chunk}: ${names}`);
    // The page itself names them, so that none waits for another.
    const named = await page.locator('link[rel=preload][as=fetch]').count();
    if (named !== names.length) throw new Error(`${path || 'deck'} names ${named} of ${names}`);
    await page.close();
  }
}

export const tests = {
  async 'a page loads its own chunk at once, and no other'({ context, server }) {
    await eachPageLoadsItsOwn(context, server.url);
  },

  async 'below a base path, too'({ context }) {
    const server = await startServer({ base: '/ops/pilothouse' });
    try {
      await eachPageLoadsItsOwn(context, server.url);
    } finally {
      await server.stop();
    }
  },

  async 'a page that is opened later loads its chunk, and the drawer its own'({ page, server }) {
    await page.goto(`${server.url}sets`);
    await isLive(page);
    const names = loaded(page);
    await page.locator('nav').getByRole('link', { name: 'Servers' }).click();
    await page.locator('tbody').getByRole('checkbox').first().click();
    if (names.join() !== 'servers') throw new Error(`Servers loads ${names}`);
    await page.keyboard.press('e');
    await page.locator('aside.drawer').getByRole('heading').first().waitFor();
    if (names.join() !== 'servers,drawer') throw new Error(`the drawer loads ${names}`);
    await page.keyboard.press('Escape');
    await page.locator('aside.drawer').waitFor({ state: 'detached' });
  },

  async 'a chunk that does not come is said, and comes when asked again'({ page, server }) {
    await page.goto(server.url);
    await isLive(page);
    await page.route('**/chunks/servers.*', (route) => route.abort());
    await page.locator('nav').getByRole('link', { name: 'Servers' }).click();
    const said = page.getByRole('alert').filter({ hasText: 'This part did not load' });
    await said.waitFor();
    await said.getByRole('button', { name: 'Try again' }).click();
    await said.waitFor();
    await page.unroute('**/chunks/servers.*');
    await said.getByRole('button', { name: 'Try again' }).click();
    await page.locator('tbody').getByRole('checkbox').first().waitFor();
    await said.waitFor({ state: 'detached' });
  },

  async 'a page whose own chunk does not come stays readable and says so'({ page, server }) {
    await page.route('**/chunks/servers.*', (route) => route.abort());
    await page.goto(`${server.url}servers`);
    const said = page.getByRole('alert').filter({ hasText: 'This part did not load' });
    await said.waitFor();
    await page.locator('tbody').filter({ hasText: 'minecraft-eu-0' }).waitFor();
    await page.unroute('**/chunks/servers.*');
    await said.getByRole('button', { name: 'Load the page anew' }).click();
    await isLive(page);
    if (await said.count() !== 0) throw new Error('it is still said after it loaded');
  },
};
