import { experimental, since, versions } from '../availability.ts';
import { fieldDefaults } from '../field-defaults.ts';
import { integer, list, map, object, string, type JsonObject, type Semantic, type StringOptions } from '../node.ts';

// Building blocks that several kinds share: names, references, conditions.

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
/** Labels separated by dots; for use in patterns. */
export const subdomain = `${label}(\\.${label})*`;
const domainPath = "[A-Za-z0-9\\/\\-._~%!$&'()*+,;=:]+";

/** RFC 1123 subdomain. */
export const subdomainPattern = `^${subdomain}$`;
const groupPattern = `^$|${subdomainPattern}`;
const kindPattern = '^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$';
const controllerPattern = `^${subdomain}\\/${domainPath}$`;
const durationPattern = '^([0-9]{1,5}(h|m|s|ms)){1,4}$';
const tokenPattern = "^[A-Za-z0-9!#$%&'*+\\-.^_\\x60|~]+$";
/** Printable ASCII with single spaces or tabs in between. */
const headerValuePattern = '^[!-~]+([\\t ]?[!-~]+)*$';
// Only the first and the last alternative are anchored, each on one side, as in the official schema.
export const addressTypePattern = `^Hostname|IPAddress|NamedAddress|${subdomain}\\/${domainPath}$`;
export const protocolPattern = versions(
  // A typo in the official schema, fixed in v1.2.
  protocolAnd('[-a-zSA-Z0-9]'),
  since('1.2', protocolAnd('[-a-zA-Z0-9]')),
);
const labelValuePattern = '^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$';
const conditionTypePattern = `^(${subdomain}/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$`;

function protocolAnd(inner: string): string {
  return `^[a-zA-Z0-9](${inner}*[a-zA-Z0-9])?$|${subdomain}\\/[A-Za-z0-9]+$`;
}

/** Explicit in the schema since v1.4. Before, server-side apply treated lists as atomic by default. */
export const atomic = since('1.4', 'atomic');

const groupBounds = {
  maxLength: 253,
  pattern: groupPattern,
  form: 'a group such as example.com, or "" for the core group',
} as const;
const kindBounds = {
  maxLength: 63,
  minLength: 1,
  pattern: kindPattern,
  form: 'a kind of letters, digits and -, such as Service',
} as const;

export const group = string(groupBounds);
export const kind = string(kindBounds);
export const name = string({ maxLength: 253, minLength: 1 });
export const namespace = string({
  maxLength: 63,
  minLength: 1,
  pattern: `^${label}$`,
  form: 'a name of lower-case letters, digits and -, such as shop-1',
});
export const port = integer({ format: 'int32', minimum: 1, maximum: 65_535 });
export const sectionName = string({
  maxLength: 253,
  minLength: 1,
  pattern: subdomainPattern,
  semantics: ['sectionName'],
  form: 'a name of lower-case letters, digits, - and ., such as https',
});
export const controllerName = string({
  maxLength: 253,
  minLength: 1,
  pattern: controllerPattern,
  form: 'a domain and a path, such as example.com/gateway-controller',
});
/** The bounds of a GEP-2257 duration. */
export const durationBounds = {
  pattern: durationPattern,
  semantics: ['duration'],
  form: 'a duration such as 500ms, 10s or 1h30m',
} as const satisfies StringOptions;
export const duration = string(durationBounds);

export const hostname = string({
  maxLength: 253,
  minLength: 1,
  pattern: `^(\\*\\.)?${subdomain}$`,
  semantics: ['hostname'],
  form: 'a DNS name in lower case, such as shop.example.com or *.example.com',
});
export const preciseHostname = string({
  maxLength: 253,
  minLength: 1,
  pattern: subdomainPattern,
  semantics: ['preciseHostname'],
  form: 'a DNS name in lower case and without wildcard, such as shop.example.com',
});

/** A group that defaults to `value`. */
export function groupDefaulting(value: string) {
  return string({ ...groupBounds, default: value });
}

/** A kind that defaults to `value`. */
export function kindDefaulting(value: string) {
  return string({ ...kindBounds, default: value });
}

/** An RFC 9110 token; `semantics` say what it names. */
export function token(...semantics: readonly Semantic[]) {
  return string({
    maxLength: 256,
    minLength: 1,
    pattern: tokenPattern,
    semantics,
    form: "a name of letters, digits and !#$%&'*+-.^_`|~, such as x-team",
  });
}

export const headerName = token('headerName');

/** The value of a header; `more` are additional semantics at its location. */
export function headerValue(...more: readonly Semantic[]) {
  return string({
    maxLength: 4096,
    minLength: 1,
    pattern: experimental('1.5', headerValuePattern),
    semantics: ['headerValue', ...more],
    form: 'printable ASCII characters with single spaces between them',
  });
}

/** Header names that the schema does not validate as tokens. */
export const headerNames = list(string(), {
  maxItems: since('1.5', 64),
  listType: 'set',
  semantics: ['headerNameList'],
});

export const localObjectReference = object({ group, kind, name }, { required: ['group', 'kind', 'name'] });
export const objectReference = object({ group, kind, name, namespace }, { required: ['group', 'kind', 'name'] });
export const secretReference = object(
  {
    group: groupDefaulting(fieldDefaults.secretRef.group),
    kind: kindDefaulting(fieldDefaults.secretRef.kind),
    name,
    namespace,
  },
  { required: ['name'] },
);

const backendFields = {
  group: groupDefaulting(fieldDefaults.backendRef.group),
  kind: kindDefaulting(fieldDefaults.backendRef.kind),
  name,
  namespace,
  port,
} as const;
export const backendObjectReference = object(backendFields, { required: ['name'] });

export const weight = integer({ format: 'int32', minimum: 0, maximum: 1_000_000, default: fieldDefaults.weight });

export const parentReference = object(
  {
    group: groupDefaulting(fieldDefaults.parentRef.group),
    kind: kindDefaulting(fieldDefaults.parentRef.kind),
    name,
    namespace,
    sectionName,
    port: since({ experimental: '1.0', standard: '1.1' }, port),
  },
  { required: ['name'] },
);
export const parentRefs = list(parentReference, { maxItems: 32, listType: atomic });

/** The name of a route rule. */
export const ruleName = since({ experimental: '1.2', standard: '1.4' }, sectionName);

/** The value of a label. Before v1.2, the infrastructure of Gateways accepted any text. */
export const labelValue = string({
  maxLength: versions(4096, since('1.2', 63)),
  minLength: 0,
  pattern: since('1.2', labelValuePattern),
  form: 'a label value of letters, digits, -, _ and ., such as team-a',
});

/** A fraction of all requests. */
export const fraction = object(
  {
    denominator: integer({ default: fieldDefaults.denominator, format: 'int32', minimum: 1 }),
    numerator: integer({ format: 'int32', minimum: 0 }),
  },
  { required: ['numerator'] },
);

/** Implementation-specific TLS settings. */
export const tlsOptions = map(string({ maxLength: 4096, minLength: 0 }), { maxProperties: 16 });

/** Attaches a route to all default Gateways (GEP-3793). */
export const useDefaultGateways = experimental('1.4', string({ enum: ['All', 'None'] }));

const selectorRequirement = object(
  { key: string(), operator: string(), values: list(string(), { listType: since('1.1', 'atomic') }) },
  { required: ['key', 'operator'] },
);
export const labelSelector = object(
  { matchExpressions: list(selectorRequirement, { listType: since('1.1', 'atomic') }), matchLabels: map(string()) },
  { mapType: 'atomic', semantics: ['labelSelector'] },
);

/** metav1.Condition. */
export const conditionItem = object(
  {
    lastTransitionTime: string({ format: 'date-time' }),
    message: string({ maxLength: 32_768 }),
    observedGeneration: integer({ format: 'int64', minimum: 0 }),
    reason: string({
      maxLength: 1024,
      minLength: 1,
      pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
      form: 'a reason such as Accepted',
    }),
    status: string({ enum: ['True', 'False', 'Unknown'] }),
    type: string({
      maxLength: 316,
      pattern: conditionTypePattern,
      form: 'a type such as Accepted or example.com/Ready',
    }),
  },
  { required: ['lastTransitionTime', 'message', 'reason', 'status', 'type'] },
);

const conditionList = { maxItems: 8, listType: 'map', keys: ['type'] } as const;
export const conditions = list(conditionItem, conditionList);
export const someConditions = list(conditionItem, { ...conditionList, minItems: 1 });

/** Defaults of the conditions before a controller writes the first ones. */
export function conditionsDefaulting(...types: readonly string[]) {
  return list(conditionItem, { ...conditionList, default: waitingConditions(types, 'Pending') });
}

/** The default status before a controller writes it; `reason` is that of its conditions. */
export function waitingStatus(types: readonly string[], reason: string): JsonObject {
  return { conditions: waitingConditions(types, reason) };
}

function waitingConditions(types: readonly string[], reason: string): readonly JsonObject[] {
  return types.map((type) => ({
    lastTransitionTime: '1970-01-01T00:00:00Z',
    message: 'Waiting for controller',
    reason,
    status: 'Unknown',
    type,
  }));
}

/** The status of a route: one entry per controller and parent. */
export const routeStatus = object(
  {
    parents: list(
      object(
        { conditions: someConditions, controllerName, parentRef: parentReference },
        { required: [since('1.4', 'conditions'), 'controllerName', 'parentRef'] },
      ),
      { maxItems: 32, listType: atomic },
    ),
  },
  { required: ['parents'] },
);

/** A backendRef that can have the filters of its route kind. */
export const weightedBackendFields = { ...backendFields, weight } as const;
