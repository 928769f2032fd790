// Prepares the folder of a local control plane: free loopback ports, the key that signs service accounts, the access token.
// Usage: node prepare.mjs FOLDER ; prints ETCD_PORT, ETCD_PEER_PORT, API_PORT and MANAGER_PORT as NAME=VALUE lines.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

const folder = process.argv[2];

// All are held open until all are known, so that no two are the same.
const servers = await Promise.all(
  Array.from({ length: 4 }, () => new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(server));
  })),
);
const ports = servers.map((s) => s.address().port);
await Promise.all(servers.map((s) => new Promise((done) => s.close(done))));
console.log(['ETCD_PORT', 'ETCD_PEER_PORT', 'API_PORT', 'MANAGER_PORT'].map((name, i) => `${name}=${ports[i]}`).join('\n'));

const secret = { mode: 0o600 };
const key = join(folder, 'service-accounts.key');
if (!existsSync(key)) {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(key, privateKey.export({ type: 'pkcs1', format: 'pem' }), secret);
}
const token = randomBytes(24).toString('hex');
writeFileSync(join(folder, 'token'), token, secret);
writeFileSync(join(folder, 'tokens.csv'), `${token},admin,admin,"system:masters"\n`, secret);
