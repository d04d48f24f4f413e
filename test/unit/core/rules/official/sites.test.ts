import { expect, test } from '@jest/globals';
import { forwardBodySize } from '../../../../../src/core/rules/filters/forward-body-size.ts';
import { hostnameIsIp } from '../../../../../src/core/rules/hostnames/hostname-is-ip.ts';
import { severalCertificates } from '../../../../../src/core/rules/listeners/several-certificates.ts';
import { below, fitting, merge } from '../../../../../src/core/rules/official/sites.ts';
import { wherever } from '../../../../../src/core/rules/unenforced/meanings.ts';
import { experimental } from '../../../../../src/core/schema/index.ts';

// The compiler checks these tables; `@ts-expect-error` fails where it finds no error.

test('a table has the demands of its parts', () => {
  const part = below(['spec.listeners[]'], {
    '': [experimental('1.5', severalCertificates)],
    hostname: [hostnameIsIp],
  });
  const sites = fitting('Gateway', merge(part, { 'spec.listeners[].hostname': [hostnameIsIp] }));
  expect(Object.entries(sites).map(([path, demands]) => [path, demands.length])).toEqual([
    ['spec.listeners[]', 1],
    ['spec.listeners[].hostname', 2],
  ]);
});

test('a demand on a value of another type is an error', () => {
  // @ts-expect-error: the hostname of a listener is a string, not a listener.
  const wrong = fitting('Gateway', { 'spec.listeners[].hostname': [severalCertificates] });
  // @ts-expect-error: the same for a demand of some releases only.
  const versioned = fitting('Gateway', { 'spec.listeners[].hostname': [experimental('1.5', severalCertificates)] });
  const part = below(['spec.listeners[]'], { hostname: [hostnameIsIp], port: [hostnameIsIp] });
  // @ts-expect-error: the same below a part; a port is a number.
  const inPart = fitting('Gateway', part);
  // @ts-expect-error: the same where another table has a right demand at the location.
  const merged = fitting('Gateway', merge({ 'spec.listeners[].port': [forwardBodySize] }, part));
  // @ts-expect-error: a hostname is not a number.
  const meaning = wherever('Gateway', ['hostname'], forwardBodySize);
  expect([wrong, versioned, inPart, merged, meaning]).toHaveLength(5);
});

test('a path that the kind does not have is an error', () => {
  // @ts-expect-error: the field is named listeners.
  const misspelt = fitting('Gateway', { 'spec.listener[].hostname': [hostnameIsIp] });
  // @ts-expect-error: an HTTPRoute has no listeners.
  const ofOtherKind = fitting('HTTPRoute', { 'spec.listeners[].hostname': [hostnameIsIp] });
  // @ts-expect-error: a list is not its items.
  const list = fitting('HTTPRoute', { 'spec.hostnames': [hostnameIsIp] });
  expect([misspelt, ofOtherKind, list]).toHaveLength(3);
});
