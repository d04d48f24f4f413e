import { isReadable } from '../../resources/resource.ts';
import { type ViewAt } from '../../schema/index.ts';
import { display, quote } from '../../text/display.ts';
import { demand, type ReportViolation, violationsAt } from '../engine/demand.ts';
import { denied } from '../engine/effects.ts';
import { routeRules } from '../engine/parts.ts';
import { rule } from '../engine/rule.ts';
import { matchTypeOf } from '../../semantics/intended.ts';

/** No bundle checks service and method together if they are regular expressions. */
export const grpcMethodMatch = rule({
  id: 'grpc-method-match',
  kinds: ['GRPCRoute'],
  summary: 'A gRPC method match has neither service nor method, or an invalid one.',
  effect: denied,
  consequence: { condition: 'Accepted', reason: 'UnsupportedValue', scope: 'match' },
  source: 'Gateway API v1.7.0, GRPCMethodMatch ("At least one of Service and Method MUST be a non-empty string")',
  check(route, _read, report) {
    for (const {
      rule: { matches },
      path,
    } of routeRules(route)) {
      for (const [position, { method }] of (matches ?? []).entries()) {
        const at = [...path, 'matches', position, 'method'];
        if (method === undefined || !isReadable(route, at)) continue;
        judge(method, spokenName, violationsAt(at, report));
      }
    }
  },
});

export type MethodMatch = ViewAt<'GRPCRoute', 'spec.rules[].matches[].method'>;

interface Names {
  readonly service: RegExp;
  readonly method: RegExp;
}

/** The valid names between the slashes of a gRPC request's path. A slash in a name would result in another path. */
const spokenName: Names = { service: /^[A-Za-z0-9_.]*$/, method: /^[A-Za-z0-9_.]*$/ };

/** The names that bundles accept. They ignore the case of services; the flags i and u fold Unicode letters like RE2. */
const officialName: Names = {
  service: /^\.?[a-z_][a-z_0-9]*(?:\.[a-z_][a-z_0-9]*)*$/iu,
  method: /^[A-Za-z_][A-Za-z_0-9]*$/,
};

function judge(match: MethodMatch, names: Names, report: ReportViolation): void {
  const { service, method } = match;
  if ((service ?? '') === '' && (method ?? '') === '') {
    report({
      below: [],
      message:
        'The method match has neither service nor method, so it matches nothing. Set at least one of them, or remove method from the match to match every call.',
    });
    return;
  }
  if (matchTypeOf(match) !== 'Exact') return;
  if (service !== undefined && !names.service.test(service)) {
    report({
      below: ['service'],
      value: display(service),
      message: `Invalid gRPC service ${quote(service)}: the match matches nothing. Use names of letters, digits and "_", separated by dots, for example shop.v1.Cart, or use type: RegularExpression.`,
    });
  }
  if (method !== undefined && !names.method.test(method)) {
    report({
      below: ['method'],
      value: display(method),
      message: `Invalid gRPC method ${quote(method)}: the match matches nothing. Use a name of letters, digits and "_", for example AddItem, or use type: RegularExpression.`,
    });
  }
}

export const methodIsValid = demand(grpcMethodMatch, function judgeOfficially(match: MethodMatch, report) {
  const { type, service, method } = match;
  // Bundles check empty strings only if the type is Exact.
  if (type === 'Exact' || (service === undefined && method === undefined)) judge(match, officialName, report);
});
