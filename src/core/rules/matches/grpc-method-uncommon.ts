import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { MethodMatch } from './grpc-method-match.ts';

export const grpcMethodUncommon = unenforcedRule({
  id: 'grpc-method-uncommon',
  summary: 'A gRPC method match is one that not every implementation understands.',
  effect: warned,
  source: 'Gateway API v1.7.0, GRPCMethodMatch.type (Exact with service and method is core, without service implementation-specific)',
}, function judgeMatch({ type = 'Exact', service = '', method = '' }: MethodMatch, report) {
  if (type !== 'Exact') return;
  if (service === '' && method !== '') {
    report({ below: ['service'], message: `This match names the method ${quote(method)} of whatever service, which not every implementation can match. Write service, too, such as shop.v1.Cart.` });
  }
  if (service.startsWith('.')) {
    report({ below: ['service'], value: display(service), message: `No client asks for a service that begins with a dot. Write ${quote(service.slice(1))}.` });
  }
});
