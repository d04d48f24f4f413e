import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { MethodMatch } from './grpc-method-match.ts';
import { matchTypeOf } from '../../semantics/intended.ts';

export const grpcMethodUncommon = unenforcedRule(
  {
    id: 'grpc-method-uncommon',
    summary: 'A gRPC method match is one that not every implementation supports.',
    effect: warned,
    source:
      'Gateway API v1.7.0, GRPCMethodMatch.type (Exact with service and method is core, without service implementation-specific)',
  },
  function judgeMatch(match: MethodMatch, report) {
    const { service = '', method = '' } = match;
    if (matchTypeOf(match) !== 'Exact') return;
    if (service === '' && method !== '') {
      report({
        below: ['service'],
        message: `The match names method ${quote(method)} without a service, which not every implementation supports. Set service, for example shop.v1.Cart.`,
      });
    }
    if (service.startsWith('.')) {
      report({
        below: ['service'],
        value: display(service),
        message: `Invalid service ${quote(service)}: no client calls a service that starts with a dot. Use ${quote(service.slice(1))}.`,
      });
    }
  },
);
