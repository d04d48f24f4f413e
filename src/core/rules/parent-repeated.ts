import { servedRouteKinds, type ServedRouteKind } from '../graph/protocols.ts';
import { describeRef, qualifiedName } from '../resources/reference.ts';
import type { Resource } from '../resources/resource.ts';
import { gatewayGroup } from '../graph/inputs.ts';
import { display } from '../text/display.ts';
import { demand, type Demand } from './demand.ts';
import { denied } from './effects.ts';
import { rule } from './rule.ts';

/** The CRDs cannot see the route's own namespace, so writing it out once hides a repetition from them. */
export const parentRepeated = rule({
  id: 'parent-repeated',
  kinds: servedRouteKinds,
  summary: 'Two parentRefs name the same parent once defaults are filled in.',
  effect: denied,
  source: 'Gateway API v1.7.0, CommonRouteSpec.parentRefs ("ParentRefs must be distinct")',
  check(route, _read, report) {
    const parents = (route.spec?.parentRefs ?? []).map((ref) => withDefaults(ref, route.ref.namespace));
    for (const [index, parent] of parents.entries()) {
      const before = parents.findIndex((other) => !areDistinct(other, parent));
      if (before === index) continue;
      report({
        path: ['spec', 'parentRefs', index],
        value: display(qualifiedName(parent)),
        message: `This parentRef names ${display(describeRef(parent))} like parentRefs[${before}] does, once defaults are filled in. Remove one of them, or give each a sectionName of its own.`,
      });
    }
  },
});

interface Parent {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly sectionName: string;
  readonly port: number | undefined;
}

type ParentRefView = NonNullable<NonNullable<Resource<ServedRouteKind>['spec']>['parentRefs']>[number];

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
  return demand('parent-repeated', function* judge(refs) {
    const parents = refs.map((ref) => withDefaults(ref, ''));
    for (const [index, parent] of parents.entries()) {
      const found = parents.slice(0, index).findIndex((other) => isSameParent(parent, other) && !areToldApart(parent, other, fields));
      if (found === -1) continue;
      const cure = `Remove one of them, or give each a ${fields.join(' or ')} of its own.`;
      yield { below: [index], value: display(qualifiedName(parent)), message: `This parentRef names ${display(describeRef(parent))} like parentRefs[${found}] does. ${cure}` };
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
