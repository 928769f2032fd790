// ./dev cluster schema: asks a running API server for what the sandbox is made from (OpenAPI and discovery), into a folder that
// server/sandbox/data/record.mjs reads.
//
//   node schema.mjs KUBECONFIG FOLDER
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';

const [kubeconfig, folder] = process.argv.slice(2);
if (!folder) {
  console.error('usage: node schema.mjs KUBECONFIG FOLDER');
  process.exit(2);
}
const config = readFileSync(kubeconfig, 'utf8');
const field = (name) => config.match(new RegExp(`^\\s*${name}: (.+)$`, 'm'))[1];
const server = field('server');
const ca = Buffer.from(field('certificate-authority-data'), 'base64');
const token = field('token');

/** What the server answers to a GET, as text. */
function get(path, accept = 'application/json') {
  return new Promise((resolve, reject) => {
    const ask = request(server + path, { ca, headers: { accept, authorization: `Bearer ${token}` } }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => {
        if (response.statusCode === 200) resolve(Buffer.concat(chunks).toString());
        else reject(new Error(`${path} answers ${response.statusCode}`));
      });
    });
    ask.on('error', reject);
    ask.end();
  });
}

const v3 = join(folder, 'v3');
mkdirSync(v3, { recursive: true });
const put = (name, text) => writeFileSync(join(folder, name), text);
put('swagger.json', await get('/openapi/v2'));
put('apis.json', await get('/apis', 'application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io'));
put('api_v1.json', await get('/api/v1'));
for (const [path, { serverRelativeURL }] of Object.entries(JSON.parse(await get('/openapi/v3')).paths)) {
  // As the Kubernetes source tree names these files.
  writeFileSync(join(v3, `${path.replaceAll('/', '__')}_openapi.json`), await get(serverRelativeURL));
}
