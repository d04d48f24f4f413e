import { describeRef, qualifiedName } from '../../resources/reference.ts';
import { gatewayGroup } from '../../graph/inputs.ts';
import { display, quote } from '../../text/display.ts';
import { demand, unenforcedRule, type Demand } from '../engine/demand.ts';
import { denied, deniedWhenStrict, recorded, warned } from '../engine/effects.ts';
import type { WholeObject } from '../engine/written-object.ts';

// What routes say of their parents.

interface ParentRefView {
  readonly group?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly sectionName?: string;
  readonly port?: number;
}

type Route = WholeObject<{ readonly parentRefs?: readonly ParentRefView[]; readonly useDefaultGateways?: string }>;

/** The CRDs cannot see the route's own namespace, so writing it out once hides a repetition from them. */
export const parentRepeated = unenforcedRule({
  id: 'parent-repeated',
  summary: 'Two parentRefs name the same parent once defaults are filled in.',
  effect: denied,
  source: 'Gateway API v1.7.0, CommonRouteSpec.parentRefs ("ParentRefs must be distinct")',
}, function judge({ metadata, spec }: Route, report) {
  const parents = parentsOf(spec, metadata.namespace);
  for (const [index, parent] of parents.entries()) {
    const before = parents.findIndex((other) => !areDistinct(other, parent));
    if (before === index) continue;
    report({
      below: ['spec', 'parentRefs', index],
      value: display(qualifiedName(parent)),
      message: `This parentRef names ${display(describeRef(parent))} like parentRefs[${before}] does, once defaults are filled in. Remove one of them, or give each a sectionName of its own.`,
    });
  }
});

/** Bundles only look whether all fields together differ. */
export const parentSectionShared = unenforcedRule({
  id: 'parent-section-shared',
  summary: 'Two parentRefs name one parent with the same sectionName or port, and only the other of the two tells them apart.',
  effect: warned,
  source: 'Gateway API v1.7.0, CommonRouteSpec.parentRefs ("ParentRefs must be distinct")',
}, function judge({ metadata, spec }: Route, report) {
  const parents = parentsOf(spec, metadata.namespace);
  for (const [index, parent] of parents.entries()) {
    for (const field of ['sectionName', 'port'] as const) {
      const value = parent[field];
      const before = parents.slice(0, index).findIndex((other) => isGiven(value) && other[field] === value && isSameParent(other, parent) && areDistinct(other, parent));
      if (before === -1) continue;
      report({
        below: ['spec', 'parentRefs', index, field],
        value: display(String(value)),
        message: `This parentRef has the ${field} ${quote(value)} like parentRefs[${before}], and names the same ${parent.kind}. Give each a ${field} of its own, or make one parentRef of the two.`,
      });
    }
  }
});

function parentsOf(spec: Route['spec'], ownNamespace: string): readonly Parent[] {
  return (spec?.parentRefs ?? []).map((ref) => withDefaults(ref, ownNamespace));
}

/** The group that each kind of parent belongs to. */
const parentGroups: ReadonlyMap<string, string> = new Map([['Gateway', gatewayGroup], ['ListenerSet', gatewayGroup], ['Service', '']]);

export const parentGroup = unenforcedRule({
  id: 'parent-group',
  summary: 'The group and kind of a parentRef do not belong together.',
  effect: deniedWhenStrict,
  source: 'Gateway API v1.7.0, ParentReference.group ("Group must be explicitly set to "" (empty string)" for a Service)',
}, function judge({ group = gatewayGroup, kind = 'Gateway' }: ParentRefView, report) {
  const wanted = parentGroups.get(kind);
  if (wanted === undefined || wanted === group) return;
  const cure = wanted === '' ? 'Write group: "" (left out, the group is that of the Gateway API)' : `Leave group out, or write group: ${wanted}`;
  report({ below: ['group'], value: display(group), message: `There is no kind ${kind} in the group ${quote(group)}, so this parentRef names nothing. ${cure}.` });
});

export const routeWithoutParents = unenforcedRule({
  id: 'route-without-parents',
  summary: 'A route names no parent, so nothing sends it requests.',
  effect: recorded,
  source: 'Gateway API v1.7.0, CommonRouteSpec.parentRefs and .useDefaultGateways',
}, function judge({ spec }: Route, report) {
  if (spec === undefined || (spec.parentRefs ?? []).length > 0 || spec.useDefaultGateways === 'All') return;
  report({ below: ['spec', 'parentRefs'], message: 'This route names no parent, so it gets no traffic. Write parentRefs with the name of a Gateway.' });
});

interface Parent {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly sectionName: string;
  readonly port: number | undefined;
}

/** The CRDs take empty texts for absent ones, except in `group`, where it means the core group. */
function withDefaults(ref: ParentRefView, ownNamespace: string): Parent {
  return {
    group: ref.group ?? gatewayGroup,
    kind: ref.kind ?? 'Gateway',
    namespace: ref.namespace || ownNamespace,
    name: ref.name ?? '',
    sectionName: ref.sectionName ?? '',
    port: ref.port,
  };
}

/**
 * References to one parent are distinct when both name a section, and not the same, or when both name a port, and
 * not the same (the experimental channel's reading; nothing that some channel admits is refused here).
 */
function areDistinct(a: Parent, b: Parent): boolean {
  if (!isSameParent(a, b)) return true;
  if (a.sectionName !== b.sectionName) return a.sectionName !== '' && b.sectionName !== '';
  return a.port !== undefined && b.port !== undefined && a.port !== b.port;
}

type DistinguishingField = 'sectionName' | 'port';

/**
 * What bundles demand of parentRefs: of two to one parent both must have the same of the distinguishing fields, and
 * not the same values. To them, a reference without namespace and one to the own namespace are two parents.
 */
function parentsToldApartBy(...fields: readonly DistinguishingField[]): Demand<readonly ParentRefView[]> {
  return demand(parentRepeated.id, function judge(refs, report) {
    const parents = refs.map((ref) => withDefaults(ref, ''));
    for (const [index, parent] of parents.entries()) {
      const found = parents.slice(0, index).findIndex((other) => isSameParent(parent, other) && !areToldApart(parent, other, fields));
      if (found === -1) continue;
      const cure = `Remove one of them, or give each a ${fields.join(' or ')} of its own.`;
      report({ below: [index], value: display(qualifiedName(parent)), message: `This parentRef names ${display(describeRef(parent))} like parentRefs[${found}] does. ${cure}` });
    }
  }, fields.join('-or-'));
}

function isSameParent(one: Parent, other: Parent): boolean {
  return one.group === other.group && one.kind === other.kind && one.namespace === other.namespace && one.name === other.name;
}

function areToldApart(one: Parent, other: Parent, fields: readonly DistinguishingField[]): boolean {
  return fields.every((field) => isGiven(one[field]) === isGiven(other[field])) && fields.some((field) => one[field] !== other[field]);
}

function isGiven(value: string | number | undefined): boolean {
  return value !== undefined && value !== '';
}

/** The standard channel looks at section names alone. */
export const parentsToldApartBySection = parentsToldApartBy('sectionName');
export const parentsToldApartBySectionOrPort = parentsToldApartBy('sectionName', 'port');
