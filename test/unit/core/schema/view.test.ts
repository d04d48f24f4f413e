import { expect, test } from '@jest/globals';
import type { ViewAt } from '../../../../src/core/schema/index.ts';

// The compiler checks these types; `@ts-expect-error` fails where it finds no error.

test('the view of a location has the fields of its table', () => {
  const filter: ViewAt<'HTTPRoute', 'spec.rules[].filters[]'> = {
    type: 'RequestMirror',
    requestMirror: { percent: 1 },
  };
  const port: ViewAt<'Gateway', 'spec.listeners[].port'> = 80;
  const refs: ViewAt<'BackendTLSPolicy', 'spec.validation.caCertificateRefs'> = [{ kind: 'ConfigMap', name: 'ca' }];
  expect([filter.requestMirror?.percent, port, refs[0]?.name]).toEqual([1, 80, 'ca']);
});

test('a field that a location does not have is an error', () => {
  // @ts-expect-error: requestMirrors is no field of a filter.
  const filter: ViewAt<'HTTPRoute', 'spec.rules[].filters[]'> = { requestMirrors: {} };
  // @ts-expect-error: a port is a number.
  const port: ViewAt<'Gateway', 'spec.listeners[].port'> = '80';
  // @ts-expect-error: the path does not exist.
  const wrong: ViewAt<'Gateway', 'spec.listener[].port'> = 80;
  expect([filter, port, wrong]).toEqual([{ requestMirrors: {} }, '80', 80]);
});
