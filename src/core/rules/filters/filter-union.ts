import { ownerKinds } from '../../graph/listeners/listener-sets.ts';
import { requestRouteKinds } from '../../graph/protocols.ts';
import type { Path } from '../../resources/path.ts';
import { isReadable, type ResourceFrame } from '../../resources/resource.ts';
import { visitSemantic } from '../../schema/index.ts';
import { demand, violationsAt, type ReportViolation } from '../engine/demand.ts';
import { denied } from '../engine/effects.ts';
import { unsupportedValueAt } from '../engine/parts.ts';
import { rule, type ReportFinding } from '../engine/rule.ts';
import { unionOf, unionViolations, type Union } from '../engine/union.ts';

const filters = unionOf('type', {
  RequestHeaderModifier: 'requestHeaderModifier',
  ResponseHeaderModifier: 'responseHeaderModifier',
  RequestMirror: 'requestMirror',
  RequestRedirect: 'requestRedirect',
  URLRewrite: 'urlRewrite',
  CORS: 'cors',
  ExternalAuth: 'externalAuth',
  ExtensionRef: 'extensionRef',
});

const grpcFilters = unionOf('type', {
  RequestHeaderModifier: 'requestHeaderModifier',
  ResponseHeaderModifier: 'responseHeaderModifier',
  RequestMirror: 'requestMirror',
  ExtensionRef: 'extensionRef',
});

const pathModifiers = unionOf('type', { ReplaceFullPath: 'replaceFullPath', ReplacePrefixMatch: 'replacePrefixMatch' });

export const filterUnion = rule({
  id: 'filter-union',
  kinds: [...requestRouteKinds, ...ownerKinds],
  summary: 'The type of a filter or path modifier conflicts with the field that is set.',
  effect: denied,
  consequence: { condition: 'Accepted', reason: 'UnsupportedValue', scope: 'rule' },
  varies: ['reason', 'scope'],
  source: 'Gateway API v1.7.0, HTTPRouteFilter.type, HTTPPathModifier.type and ListenerFilter.type (unions)',
  check(subject, _read, report) {
    visitSemantic(subject.kind, subject, 'filters', (place, list) => {
      for (const [index, filter] of list.entries()) {
        const at = (...below: Path): Path => [...place.path, index, ...below];
        checkUnion(subject.kind === 'GRPCRoute' ? grpcFilters : filters, { subject, at, object: filter }, report);
        for (const member of ['requestRedirect', 'urlRewrite'] as const) {
          const modifier = filter[member]?.path;
          if (modifier === undefined) continue;
          const place: UnionPlace = { subject, at: (...below) => at(member, 'path', ...below), object: modifier };
          checkUnion(pathModifiers, place, report);
        }
      }
    });
  },
});

export const filterMember = demand(
  filterUnion,
  (filter: object, report) => unionViolations(filters, filter, report),
  'filter',
);
export const pathModifierMember = demand(
  filterUnion,
  (modifier: object, report) => unionViolations(pathModifiers, modifier, report),
  'path',
);

interface UnionPlace {
  readonly subject: ResourceFrame;
  /** Returns the path of a field below the object. Almost all objects need none. */
  readonly at: (...below: Path) => Path;
  readonly object: object;
}

/** An unreadable member counts as set, because another rule reports it. */
function checkUnion(union: Union, { subject, at, object }: UnionPlace, report: ReportFinding): void {
  const isSet = (member: string): boolean => Object.hasOwn(object, member) || !isReadable(subject, at(member));
  const reportAt: ReportViolation = (violation) => violationsAt(at(), report, unsupportedValueAt(at()))(violation);
  unionViolations(union, object, reportAt, isSet);
}
