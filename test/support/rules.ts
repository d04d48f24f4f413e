import { parseObject } from '../../src/core/resources/parse.ts';
import { formatPath } from '../../src/core/resources/path.ts';
import type { Reader } from '../../src/core/incremental/reader.ts';
import type { Finding, ObjectRule } from '../../src/core/rules/engine/rule.ts';
import { judgeByBundle } from '../../src/core/rules/engine/judge-by-bundle.ts';
import { channels, examine, isSchemaKind, minors, type Bundle } from '../../src/core/schema/index.ts';
import { expectDeclared } from './consequences.ts';
import { refusedByRules } from './schema.ts';

/** For rules about one object: looking at another one is an error. */
const blind: Reader = {
  input: refuse,
  query: refuse,
  list: refuse,
  count: refuse,
  several: refuse,
  many: refuse,
  first: refuse,
  last: refuse,
};

function refuse(): never {
  throw new Error('this rule is about one object and must not read others');
}

/** What a rule about one object finds in a JSON object; nothing in one of another kind. */
export function findingsOf(rule: ObjectRule, json: unknown): readonly Finding[] {
  const parsed = parseObject(json);
  if (parsed.type !== 'resource') throw new Error(`no object of ours: ${JSON.stringify(parsed)}`);
  const found: Finding[] = [];
  if (rule.kinds.includes(parsed.resource.kind))
    rule.check(parsed.resource, blind, (finding) => {
      expectDeclared(rule, finding);
      found.push({ rule: rule.id, ...finding });
      return true;
    });
  return found;
}

/** The same as tables in tests show it: path and message. */
export function judge(rule: ObjectRule, json: unknown): readonly (readonly [path: string, message: string])[] {
  return findingsOf(rule, json).map(({ path, message }) => [formatPath(path), message]);
}

/** `condition reason scope` of each finding, its own or the rule's. */
export function consequences(rule: ObjectRule, json: unknown): readonly string[] {
  return findingsOf(rule, json).map((finding) => {
    const consequence = finding.consequence ?? rule.consequence;
    return consequence === undefined ? 'none' : `${consequence.condition} ${consequence.reason} ${consequence.scope}`;
  });
}

/** An HTTPRoute `shop/cart`. */
export function httpRoute(spec: unknown): unknown {
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { namespace: 'shop', name: 'cart' },
    spec,
  };
}

/** An HTTPRoute with these rules. */
export function routeWith(...rules: readonly unknown[]): unknown {
  return httpRoute({ rules });
}

/** A GRPCRoute `shop/cart` with these rules. */
export function grpcRouteWith(...rules: readonly unknown[]): unknown {
  return { ...(routeWith(...rules) as object), kind: 'GRPCRoute' };
}

/** A Gateway `shop/front` with these listeners. */
export function gatewayWith(...listeners: readonly unknown[]): unknown {
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { namespace: 'shop', name: 'front' },
    spec: { gatewayClassName: 'sallyport', listeners },
  };
}

const newest: Bundle = { minor: '1.7', channel: 'experimental' };

/** What one rule finds in a JSON object by what a bundle demands, as tables in tests show it: path and message. */
export function refusals(
  rule: string,
  json: unknown,
  bundle: Bundle = newest,
): readonly (readonly [path: string, message: string])[] {
  const { kind, apiVersion } = json as { readonly kind: string; readonly apiVersion: string };
  if (!isSchemaKind(kind)) throw new Error(`${kind} has no schema`);
  return refusedByRules(kind, apiVersion, json, bundle)
    .filter((found) => found.rule === rule)
    .map(({ path, message }) => [formatPath(path), message]);
}

/** What one rule that no bundle enforces finds in a JSON object: path and message. */
export function remarks(
  rule: string,
  json: unknown,
  bundle: Bundle = newest,
): readonly (readonly [path: string, message: string])[] {
  return unenforcedFindings(json, bundle)
    .filter((found) => found.rule === rule)
    .map(({ path, message }) => [formatPath(path), message]);
}

/** What all of these rules find. */
export function unenforcedFindings(json: unknown, bundle: Bundle = newest): readonly Finding[] {
  const { kind, apiVersion } = json as { readonly kind: string; readonly apiVersion: string };
  if (!isSchemaKind(kind)) throw new Error(`${kind} has no schema`);
  const object = { kind, apiVersion, json };
  return judgeByBundle(object, examine(object, bundle), bundle).unenforced;
}

/** In which bundles a rule finds something in an object: `standard 1.5–1.7` for each channel that has any. */
export function refusingBundles(rule: string, json: unknown): readonly string[] {
  return channels.flatMap((channel) => {
    const refusing = minors.filter((minor) => refusals(rule, json, { minor, channel }).length > 0);
    return refusing.length === 0 ? [] : [`${channel} ${refusing[0]}–${refusing.at(-1)}`];
  });
}

/** An HTTPRoute with which nothing is wrong, but for what `rule` and `spec` bring. */
export function soundRoute(rule: object = {}, spec: object = {}): unknown {
  return httpRoute({
    parentRefs: [{ name: 'front' }],
    rules: [{ backendRefs: [{ name: 'cart', port: 80 }], ...rule }],
    ...spec,
  });
}

/** A Gateway with which nothing is wrong, but for what `listener` and `spec` bring. */
export function soundGateway(listener: object = {}, spec: object = {}): unknown {
  const gateway = gatewayWith({ name: 'web', port: 80, protocol: 'HTTP', ...listener }) as { readonly spec: object };
  return { ...gateway, spec: { ...gateway.spec, ...spec } };
}

/** An object `shop/cart` of any kind, of the group of the Gateway API unless it is an experimental kind. */
export function objectOf(kind: string, version: string, spec: unknown): unknown {
  const group = kind.startsWith('X') ? 'gateway.networking.x-k8s.io' : 'gateway.networking.k8s.io';
  return { apiVersion: `${group}/${version}`, kind, metadata: { namespace: 'shop', name: 'cart' }, spec };
}
