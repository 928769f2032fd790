// Records what the sandbox learns from a real API server: kinds, verbs and names from discovery, schemas from OpenAPI, all texts removed.
//
//   node record.mjs SWAGGER APIS API_V1 V3_FOLDER builtin.json.gz
//
// SWAGGER is /openapi/v2, APIS is aggregated discovery of /apis (Accept: application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io),
// API_V1 is plain /api/v1, V3_FOLDER holds the documents of /openapi/v3, which alone say what a field is written as when it was never set.
// The Kubernetes source tree holds all of them under api/openapi-spec and api/discovery.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const [swaggerFile, apisFile, apiV1File, v3Folder, out] = process.argv.slice(2);
if (!out) {
  console.error('usage: node record.mjs SWAGGER APIS API_V1 V3_FOLDER OUT');
  process.exit(2);
}
const read = (file) => JSON.parse(readFileSync(file, 'utf8'));

// Stable groups that clients of game servers meet. autoscaling/v1 is left out: it needs conversion and nobody writes it any more.
const GROUPS = {
  'apps': 'v1', 'batch': 'v1', 'autoscaling': 'v2', 'coordination.k8s.io': 'v1', 'discovery.k8s.io': 'v1', 'events.k8s.io': 'v1',
  'networking.k8s.io': 'v1', 'policy': 'v1', 'rbac.authorization.k8s.io': 'v1', 'scheduling.k8s.io': 'v1', 'storage.k8s.io': 'v1',
  'node.k8s.io': 'v1', 'apiextensions.k8s.io': 'v1', 'admissionregistration.k8s.io': 'v1', 'authentication.k8s.io': 'v1',
  'authorization.k8s.io': 'v1',
};

/** The legacy list of core resources in the shape of aggregated discovery. */
function aggregateCore(list) {
  const byName = new Map();
  for (const r of list.resources) {
    const kind = { group: r.group ?? '', version: r.version ?? '', kind: r.kind };
    const [resource, subresource] = r.name.split('/');
    if (subresource) {
      (byName.get(resource).subresources ??= []).push({ subresource, responseKind: kind, verbs: r.verbs });
    } else {
      byName.set(resource, {
        resource, responseKind: kind, scope: r.namespaced ? 'Namespaced' : 'Cluster', singularResource: r.singularName,
        verbs: r.verbs, shortNames: r.shortNames, categories: r.categories,
      });
    }
  }
  return { metadata: { name: '' }, versions: [{ version: 'v1', resources: [...byName.values()] }] };
}

const groups = [aggregateCore(read(apiV1File))];
for (const group of read(apisFile).items) {
  const version = group.versions.find((v) => v.version === GROUPS[group.metadata.name]);
  if (version) groups.push({ metadata: { name: group.metadata.name }, versions: [{ version: version.version, resources: version.resources }] });
}

/** Drops the texts of a schema but not properties that happen to be called "description". */
function strip(schema) {
  if (Array.isArray(schema)) return schema.map(strip);
  if (schema === null || typeof schema !== 'object') return schema;
  const kept = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'description' && typeof value === 'string') continue;
    if (key === 'x-kubernetes-action' || key === 'x-kubernetes-unions') continue;
    kept[key] = key === 'properties'
      ? Object.fromEntries(Object.entries(value).map(([name, property]) => [name, strip(property)]))
      : strip(value);
  }
  return kept;
}

const all = read(swaggerFile).definitions;
const wanted = new Set();
function want(name) {
  if (wanted.has(name)) return;
  wanted.add(name);
  for (const [, ref] of JSON.stringify(all[name]).matchAll(/"#\/definitions\/([^"]+)"/g)) want(ref);
}
const kinds = new Set(['autoscaling/v1/Scale', '/v1/Status', 'meta.k8s.io/v1/DeleteOptions']);
for (const group of groups) {
  for (const version of group.versions) {
    for (const resource of version.resources) {
      for (const kind of [resource.responseKind, ...(resource.subresources ?? []).map((s) => s.responseKind)]) {
        kinds.add(`${kind.group || group.metadata.name}/${kind.version || version.version}/${kind.kind}`);
        kinds.add(`${kind.group || group.metadata.name}/${kind.version || version.version}/${kind.kind}List`);
      }
    }
  }
}
for (const [name, definition] of Object.entries(all)) {
  const gvks = definition['x-kubernetes-group-version-kind'] ?? [];
  if (gvks.some((k) => kinds.has(`${k.group}/${k.version}/${k.kind}`))) want(name);
}
const definitions = Object.fromEntries([...wanted].sort().map((name) => [name, strip(all[name])]));
// Options and Status are listed once for each group; one entry says enough.
for (const definition of Object.values(definitions)) {
  const gvks = definition['x-kubernetes-group-version-kind'];
  if (gvks && gvks.length > 2) definition['x-kubernetes-group-version-kind'] = gvks.filter((k) => k.version === 'v1' && k.group === '');
}
for (const file of readdirSync(v3Folder).filter((name) => name.endsWith('.json')).sort()) {
  for (const [name, schema] of Object.entries(read(join(v3Folder, file)).components?.schemas ?? {})) {
    for (const [field, property] of Object.entries(schema.properties ?? {})) {
      const recorded = definitions[name]?.properties?.[field];
      if (recorded && property.default !== undefined) recorded.default = property.default;
    }
  }
}
const text = JSON.stringify({ groups, definitions });
// No timestamp in the gzip header, so that recording the same server twice gives the same bytes.
writeFileSync(out, gzipSync(text, { level: 9 }));
console.log(`${Object.keys(definitions).length} definitions, ${groups.length} groups, ${text.length} bytes of JSON`);
