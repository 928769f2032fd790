// Records what the sandbox learns from a real API server and its sources: kinds, verbs and names from discovery, schemas from
// OpenAPI with all texts removed, and from the Go types how fields are numbered in protobuf and which are left out when empty.
//
//   node record.mjs SWAGGER APIS API_V1 V3_FOLDER API_SOURCES MACHINERY_SOURCES builtin.json.gz
//
// SWAGGER is /openapi/v2, APIS is aggregated discovery of /apis (Accept: application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io),
// API_V1 is plain /api/v1, V3_FOLDER holds the documents of /openapi/v3, which alone say what a field is written as when it was never set.
// The Kubernetes source tree holds these under api/openapi-spec and api/discovery. The SOURCES are the Go modules k8s.io/api and k8s.io/apimachinery.
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const [swaggerFile, apisFile, apiV1File, v3Folder, apiSources, machinerySources, out] = process.argv.slice(2);
if (!out) {
  console.error('usage: node record.mjs SWAGGER APIS API_V1 V3_FOLDER API_SOURCES MACHINERY_SOURCES OUT');
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

// Go packages by the prefix of their definitions.
const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const folders = new Map([[META, join(machinerySources, 'pkg/apis/meta/v1')]]);
for (const name of Object.keys(definitions)) {
  const api = /^io\.k8s\.api\.(\w+)\.(v\w+)\./.exec(name);
  if (api) folders.set(`io.k8s.api.${api[1]}.${api[2]}`, join(apiSources, api[1], api[2]));
}
const structs = new Map(); // full name -> [{ number, json, go, inline, omitted, pointer }]
const named = new Map(); // full name -> underlying Go type
for (const [prefix, folder] of folders) {
  const files = existsSync(folder) ? readdirSync(folder).filter((f) => /^types.*\.go$/.test(f) && !/swagger/.test(f)) : [];
  for (const file of files) {
    const source = readFileSync(join(folder, file), 'utf8');
    for (const [, name, under] of source.matchAll(/^type (\w+) ((?:map|\[\]|string|int32|int64|bool)\S*)/gm)) named.set(`${prefix}.${name}`, { prefix, under });
    for (const [, name, body] of source.matchAll(/^type (\w+) struct \{\n([\s\S]*?)^\}/gm)) {
      const fields = [];
      for (const line of body.split('\n')) {
        const field = /^\s+(?:\w+\s+)?(\S+)\s+`(.*)`/.exec(line);
        const [, json, options] = /json:"([^",]*)([^"]*)"/.exec(field?.[2] ?? '') ?? [];
        if (json === undefined) continue;
        const go = field[1];
        const number = /protobuf:"\w+,(\d+)/.exec(field[2])?.[1];
        fields.push({ go: go.replace(/^\*/, ''), pointer: go.startsWith('*'), json, number: number && Number(number),
          inline: options.includes('inline'), omitempty: options.includes('omitempty'), omitzero: options.includes('omitzero') });
      }
      structs.set(`${prefix}.${name}`, { prefix, fields });
    }
  }
}
const SPECIAL = { Time: 't', MicroTime: 'u', Quantity: 'q', IntOrString: 'n', RawExtension: 'j', FieldsV1: 'j', Duration: 'D', UID: 's', NodeName: 's' };
const PLAIN = { string: 's', bool: 'b', int: 'i', int32: 'i', int64: 'i', uint8: 'i', float64: 'd' };
const ALIAS = { metav1: META, v1: 'io.k8s.api.core.v1', corev1: 'io.k8s.api.core.v1', apiv1: 'io.k8s.api.core.v1' };
const SELECTED = new Set();

/** How a Go type travels: a letter, or @message; "[" before it for lists, "{" for maps. */
function code(go, prefix) {
  go = go.replace(/^\*/, '');
  if (go === '[]byte') return 'y';
  if (go.startsWith('[]')) return `[${code(go.slice(2), prefix)}`;
  const map = /^map\[[^\]]+\](.*)$/.exec(go);
  if (map) return `{${code(map[1], prefix)}`;
  if (PLAIN[go]) return PLAIN[go];
  const [alias, name] = go.includes('.') ? go.split('.') : [null, go];
  if (SPECIAL[name]) return SPECIAL[name];
  const full = `${alias ? ALIAS[alias] : prefix}.${name}`;
  const under = named.get(full);
  // A named list is a message of its own, with the items in field 1.
  if (under?.under.startsWith('[]')) return `*${code(under.under.slice(2), under.prefix)}`;
  if (under) return code(under.under, under.prefix);
  if (structs.has(full)) {
    select(full);
    return `@${full}`;
  }
  return 'x';
}

const wire = {};
function select(full) {
  if (SELECTED.has(full)) return;
  SELECTED.add(full);
  const { prefix, fields } = structs.get(full);
  const properties = definitions[full]?.properties ?? {};
  const numbered = {};
  for (const field of fields) {
    const kind = code(field.go, prefix);
    const scalar = !field.pointer && /^[sbid]$/.test(kind);
    const property = properties[field.json];
    if (property && scalar && field.omitempty) property['x-omit-zero'] = true;
    // A time that is no pointer is written as null when it was never set.
    if (property && !field.pointer && /^[tu]$/.test(kind) && !field.omitzero) property['x-null-time'] = true;
    if (field.number) numbered[field.number] = (field.inline ? '<' : `${field.json}:`) + (scalar ? '~' : '') + kind;
  }
  wire[full] = numbered;
}
for (const name of Object.keys(definitions)) if (structs.has(name)) select(name);

const text = JSON.stringify({ groups, definitions, wire });
// No timestamp in the gzip header, so that recording the same server twice gives the same bytes.
writeFileSync(out, gzipSync(text, { level: 9 }));
console.log(`${Object.keys(definitions).length} definitions, ${groups.length} groups, ${text.length} bytes of JSON`);
