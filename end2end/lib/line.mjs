// A line to an API server that can be cut and mended: a TCP proxy on loopback, and a kubeconfig that goes through it.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { access } from './kube.mjs';

// What goes through is TLS and stays it: both ends are on 127.0.0.1, so the server's certificate fits the proxy too.
export async function lineTo(kubeconfig) {
  const { server } = access(kubeconfig);
  const target = new URL(server);
  const open = new Set();
  let cut = false;
  const proxy = createServer((near) => {
    if (cut) return near.destroy();
    const far = connect(Number(target.port), target.hostname);
    for (const [one, other] of [[near, far], [far, near]]) {
      open.add(one);
      one.on('error', () => {}).on('close', () => { open.delete(one); other.destroy(); });
      one.pipe(other);
    }
  });
  await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const file = join(mkdtempSync(join(tmpdir(), 'pilothouse-line-')), 'kubeconfig');
  const address = `https://127.0.0.1:${proxy.address().port}`;
  writeFileSync(file, readFileSync(kubeconfig, 'utf8').replace(server, address), { mode: 0o600 });
  return {
    kubeconfig: file,
    cut() {
      cut = true;
      for (const socket of open) socket.destroy();
    },
    mend() {
      cut = false;
    },
    close() {
      this.cut();
      proxy.close();
    },
  };
}
