import { describe, expect, test } from '@jest/globals';
import { withoutField } from '../../../../src/core/text/fields.ts';
import { forwardedFields, responseFields } from '../../../../src/proxy/messages/forwarding-fields.ts';
import { defaultLimits } from '../../../../src/proxy/limits/limits.ts';
import { readHttp1Head } from '../../../../src/proxy/messages/request-head.ts';

test('fields of a response lose what belongs to the connection, whatever its spelling', () => {
  const fields = [
    'CONNECTION',
    'X-One ,x-TWO',
    'connection',
    'close,x-three',
    'x-one',
    '1',
    'X-Two',
    '2',
    'x-three',
    '3',
    'x-four',
    '4',
    'Transfer-Encoding',
    'Chunked',
  ];
  expect(responseFields(fields)).toEqual(['x-four', '4']);
});

test.each(['gzip', 'gzip, chunked', 'identity'])('a response in transfer coding %s cannot be taken over', (coding) => {
  expect(responseFields(['transfer-encoding', coding])).toBeUndefined();
});

test('a field is taken out by name', () => {
  expect(withoutField(['A', '1', 'b', '2', 'a', '3'], 'a')).toEqual(['b', '2']);
});

describe('the fields of a request that go on', () => {
  function forwarded(...fields: readonly string[]): readonly string[] {
    const head = readHttp1Head(
      { method: 'GET', url: '/', httpVersion: '1.1', rawHeaders: ['Host', 'a', ...fields] },
      defaultLimits,
    );
    if (typeof head === 'string') throw new Error(head);
    return forwardedFields(head, { address: '192.0.2.1', scheme: 'http' }, 'append');
  }
  const added = ['x-forwarded-for', '192.0.2.1', 'x-forwarded-proto', 'http', 'x-forwarded-host', 'a'];

  test.each(['connection', 'http2-settings', 'keep-alive', 'proxy-connection', 'te', 'transfer-encoding', 'upgrade'])(
    'do not include %s, though Connection does not name it',
    (name) => {
      const value = name === 'transfer-encoding' ? 'chunked' : 'x-other';
      expect(forwarded(name.toUpperCase(), value, 'X-Kept', '1')).toEqual(['X-Kept', '1', ...added]);
    },
  );

  test('do not include what Connection names', () => {
    expect(forwarded('Connection', 'X-One, keep-alive', 'x-one', '1', 'X-Two', '2')).toEqual(['X-Two', '2', ...added]);
  });
});

test('a response keeps what is for every recipient, whatever Connection names', () => {
  const fields = ['connection', 'set-cookie, x-hop', 'set-cookie', 'a=b', 'x-hop', '1'];
  expect(responseFields(fields)).toEqual(['set-cookie', 'a=b']);
});
