import { describeRef, qualifiedName } from '../resources/reference.ts';
import type { Resource } from '../resources/resource.ts';
import { gatewayGroup } from '../graph/inputs.ts';
import { display } from '../text/display.ts';
import { denied } from './effects.ts';
import { rule } from './rule.ts';

/** The CRDs cannot see the route's own namespace, so writing it out once hides a repetition from them. */
export const parentRepeated = rule({
  id: 'parent-repeated',
  kinds: ['HTTPRoute'],
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

type ParentRefView = NonNullable<NonNullable<Resource<'HTTPRoute'>['spec']>['parentRefs']>[number];

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
  if (a.group !== b.group || a.kind !== b.kind || a.namespace !== b.namespace || a.name !== b.name) return true;
  if (a.sectionName !== b.sectionName) return a.sectionName !== '' && b.sectionName !== '';
  return a.port !== undefined && b.port !== undefined && a.port !== b.port;
}
