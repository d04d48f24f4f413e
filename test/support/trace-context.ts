import { fieldValues } from './proxy.ts';

/** Trace contexts (W3C Trace Context and Baggage): a usual one, one of a future version, and an invalid one. */
export const traceContexts = [
  {
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    tracestate: 'rojo=00f067aa0ba902b7, congo=t61rcWkgMzE',
    baggage: 'user=1;private, cart=2',
  },
  {
    traceparent: 'cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-ff-more',
    tracestate: '',
    baggage: 'a=%20',
  },
  { traceparent: 'invalid', tracestate: '=', baggage: ';' },
];

/** The trace context in the fields of a request. */
export function traceContextOf(seen: Parameters<typeof fieldValues>[0]): object {
  return Object.fromEntries(
    ['traceparent', 'tracestate', 'baggage'].map((name) => [name, fieldValues(seen, name).join()]),
  );
}
