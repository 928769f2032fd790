// A small Kubernetes client for tests: JSON over the one server of a kubeconfig that ./dev cluster or the sandbox wrote.
import { readFileSync } from 'node:fs';
import https from 'node:https';

// Reads address, token and authority; both writers of these files put them on lines of their own.
export function access(file) {
  const text = readFileSync(file, 'utf8');
  const field = (name) => new RegExp(`${name}:\\s*["']?([^"'\\s]+)`).exec(text)?.[1];
  const [server, token, ca] = ['server', 'token', 'certificate-authority-data'].map(field);
  if (!server || !token || !ca) throw new Error(`${file} names no server, token and authority`);
  return { server, token, ca: Buffer.from(ca, 'base64') };
}

// kube(FILE).request(METHOD, PATH, BODY, TYPE): the answer's JSON; throws with the server's words when it is refused.
export function kube(file) {
  const { server, token, ca } = access(file);
  const request = (method, path, body, type = 'application/json') => new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, accept: 'application/json', 'content-type': type };
    const call = https.request(new URL(path, server), { method, headers, ca }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk) => { text += chunk; }).on('end', () => {
        if (answer.statusCode < 300) resolve(text === '' ? null : JSON.parse(text));
        else reject(Object.assign(new Error(`${method} ${path}: ${answer.statusCode} ${text}`), { status: answer.statusCode }));
      });
    });
    call.on('error', reject);
    call.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body));
  });
  return {
    request,
    get: (path) => request('GET', path),
    patch: (path, body) => request('PATCH', path, body, 'application/merge-patch+json'),
    // Server-side apply; the body may be YAML.
    apply: (path, body) => request('PATCH', `${path}?fieldManager=end2end&force=true`, body, 'application/apply-patch+yaml'),
    // Deleting what is not there is fine.
    delete: (path) => request('DELETE', path).catch((error) => { if (error.status !== 404) throw error; }),
  };
}

export const core = (namespace, rest) => `/api/v1/namespaces/${namespace}/${rest}`;
export const games = (namespace, rest) => `/apis/game.kruise.io/v1alpha1/namespaces/${namespace}/${rest}`;
export const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
