import { display, quote } from '../text/display.ts';
import { demand, specificationRule, type Violation } from './demand.ts';

export const grpcMethodMatch = specificationRule({
  id: 'grpc-method-match',
  summary: 'A gRPC method match names neither service nor method, or one that no gRPC service can have.',
  source: 'Gateway API v1.7.0, GRPCMethodMatch ("At least one of Service and Method MUST be a non-empty string")',
});

interface MethodMatch {
  readonly type?: string;
  readonly service?: string;
  readonly method?: string;
}

// Letters of either case, and what Unicode counts among them: RE2 folds cases as this flag does.
const servicePattern = /^\.?[a-z_][a-z_0-9]*(?:\.[a-z_][a-z_0-9]*)*$/iu;
const methodPattern = /^[A-Za-z_][A-Za-z_0-9]*$/;

export const methodIsValid = demand(grpcMethodMatch.id, function* judge(match: MethodMatch): Iterable<Violation> {
  const { type, service, method } = match;
  if (service === undefined && method === undefined) {
    yield { below: [], message: 'This match names neither service nor method. Write at least one of them, or leave method out of the match to match every call.' };
  }
  if (type !== 'Exact') return;
  if (service !== undefined && !servicePattern.test(service)) {
    yield { below: ['service'], value: display(service), message: `${quote(service)} is no gRPC service. Write names of letters, digits and _ with dots between, such as shop.v1.Cart, or type: RegularExpression.` };
  }
  if (method !== undefined && !methodPattern.test(method)) {
    yield { below: ['method'], value: display(method), message: `${quote(method)} is no gRPC method. Write a name of letters, digits and _, such as AddItem, or type: RegularExpression.` };
  }
});
