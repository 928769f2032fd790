// The same binary on a real etcd and kube-apiserver: what an operator comes for, and what only a real API server refuses.
import { readFileSync } from 'node:fs';
import { core, games, kube } from '../lib/kube.mjs';
import { isLive } from '../lib/page.mjs';
import { twoSets, until } from '../lib/server.mjs';
import { opsThenScale } from './main-path.mjs';

export const options = { cluster: true };

const world = readFileSync(twoSets, 'utf8').split(/^---$/m)
  .filter((text) => /^kind:/m.test(text))
  .map((text) => ({
    text,
    kind: /^kind: (\S+)/m.exec(text)[1],
    name: /^  name: (\S+)/m.exec(text)[1],
    namespace: /^  namespace: (\S+)/m.exec(text)?.[1],
  }));

const pathOf = ({ kind, name, namespace }) =>
  kind === 'Namespace' ? `/api/v1/namespaces/${name}` : games(namespace, `gameserversets/${name}`);

// Takes the sets away, also those that a run before left behind.
async function remove(api, server) {
  for (const object of world.filter(({ kind }) => kind === 'GameServerSet')) await api.delete(pathOf(object));
  await until('everything goes with the sets', async () =>
    (await server.api('gameservers?q=set:minecraft-eu or set:arena-match&limit=1')).matched === 0, 60_000);
}

export const tests = {
  async 'forty servers are marked and exactly those go'(test) {
    const { server } = test;
    const api = kube(process.env.PILOTHOUSE_TEST_KUBECONFIG);
    await remove(api, server);
    for (const object of world) await api.apply(pathOf(object), object.text);
    await until('both sets run', async () =>
      (await server.api('gameservers?q=state:Ready set:default/minecraft-eu&limit=1')).matched === 48
      && (await server.api('gameservers?q=state:Ready set:prod/arena-match&limit=1')).matched === 24, 120_000);
    await opsThenScale(test, 'minecraft-eu', 40);
    // What the page says is what the API server has.
    const pods = (await api.get(core('default', 'pods?labelSelector=game.kruise.io%2Fowner-gss%3Dminecraft-eu'))).items;
    const staying = pods.filter((pod) => !pod.metadata.deletionTimestamp);
    if (staying.length !== 8) throw new Error(`${staying.length} pods are left`);
    await remove(api, server);
  },

  async 'a pod template that the API server refuses is said on the pages'({ page, server }) {
    const api = kube(process.env.PILOTHOUSE_TEST_KUBECONFIG);
    const path = games('default', 'gameserversets/refused');
    const set = (limit) => JSON.stringify({
      apiVersion: 'game.kruise.io/v1alpha1', kind: 'GameServerSet', metadata: { name: 'refused', namespace: 'default' },
      spec: {
        replicas: 2,
        gameServerTemplate: { spec: { terminationGracePeriodSeconds: 1, containers: [{
          name: 'game', image: 'game:1', resources: { requests: { cpu: '2' }, limits: { cpu: limit } },
        }] } },
      },
    });
    await api.apply(path, set('1'));
    try {
      await page.goto(`${server.url}sets/kruise/default/refused`);
      await isLive(page);
      const conditions = page.locator('section, article, div').filter({ has: page.getByRole('heading', { name: 'Conditions' }) }).last();
      await conditions.filter({ hasText: 'must be less than or equal to cpu limit' }).waitFor();
      await api.apply(path, set('3'));
      await until('it recovers', async () => (await server.api('gameservers?q=set:refused state:Ready&limit=1')).matched === 2, 90_000);
      await conditions.filter({ hasText: 'AsWanted' }).waitFor();
    } finally {
      await api.delete(path);
    }
  },
};
