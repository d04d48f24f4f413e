import { describe, expect, test } from '@jest/globals';
import { parseClientHello } from '../../../../src/proxy/layer4/client-hello.ts';
import { helloBody, helloOf, protocolsExtension, serverNameExtension, vector } from '../../../support/client-hello.ts';
import type { Extensions } from '../../../support/client-hello.ts';

const name = serverNameExtension('shop.example.com');

describe('parseClientHello', () => {
  test('reads the name in lower case and the protocols in order', () => {
    const body = helloBody([serverNameExtension('Shop.Example.COM'), protocolsExtension('h2', 'http/1.1')]);
    expect(parseClientHello(body)).toEqual({ serverName: 'shop.example.com', protocols: ['h2', 'http/1.1'] });
  });

  const right: readonly (readonly [string, Buffer])[] = [
    ['without extensions', helloBody(undefined)],
    ['with an empty list of extensions', helloBody([])],
    ['without a session', helloBody([], { session: Buffer.alloc(0) })],
    [
      'with GREASE',
      helloBody([
        [0x0a0a, Buffer.alloc(0)],
        [0xfafa, Buffer.from([0])],
      ]),
    ],
    ['with a large key share', helloBody([[51, Buffer.alloc(1_300, 3)]])],
    ['with several compressions', helloBody([], { compressions: Buffer.from([1, 0]) })],
  ];
  test.each(right)('takes a hello %s', (_what, body) => {
    expect(parseClientHello(body)).toEqual({ serverName: '', protocols: [] });
  });

  function withExtensions(...extensions: Extensions): Buffer {
    return helloBody(extensions);
  }

  const wrong: readonly (readonly [string, Buffer])[] = [
    ['nothing', Buffer.alloc(0)],
    ['another version', Buffer.concat([Buffer.from([2, 0]), helloBody([name]).subarray(2)])],
    ['bytes behind it', Buffer.concat([helloBody([name]), Buffer.from([0])])],
    ['bytes behind a hello without extensions', Buffer.concat([helloBody(undefined), Buffer.from([0])])],
    ['a long session', helloBody([name], { session: Buffer.alloc(33) })],
    ['no cipher suite', helloBody([name], { suites: Buffer.alloc(0) })],
    ['half a cipher suite', helloBody([name], { suites: Buffer.alloc(3) })],
    ['no compression', helloBody([name], { compressions: Buffer.alloc(0) })],
    ['an extension twice', withExtensions(name, name)],
    ['an unknown extension twice', withExtensions([77, Buffer.alloc(0)], [77, Buffer.alloc(0)])],
    ['an empty server_name', withExtensions([0, Buffer.alloc(0)])],
    ['an empty list of names', withExtensions([0, vector(2)])],
    ['an empty name', withExtensions(serverNameExtension(''))],
    ['a name with a zero byte', withExtensions(serverNameExtension('a\0b'))],
    ['a name with a blank', withExtensions(serverNameExtension('a b'))],
    ['a name beyond ASCII', withExtensions(serverNameExtension('caf\u00e9'))],
    ['a name that is too long', withExtensions(serverNameExtension('a'.repeat(256)))],
    [
      'two names',
      withExtensions([
        0,
        vector(2, Buffer.from([0]), vector(2, Buffer.from('a')), Buffer.from([0]), vector(2, Buffer.from('b'))),
      ]),
    ],
    ['a name of an unknown type', withExtensions([0, vector(2, Buffer.from([1]), vector(2, Buffer.from('a')))])],
    ['bytes behind the list of names', withExtensions([0, Buffer.concat([name[1], Buffer.from([0])])])],
    [
      'a list of names that is longer than its extension',
      withExtensions([0, Buffer.concat([Buffer.from([0, 99]), name[1].subarray(2)])]),
    ],
    ['an empty list of protocols', withExtensions(protocolsExtension())],
    ['an empty protocol', withExtensions(protocolsExtension('h2', ''))],
    [
      'bytes behind the protocols',
      withExtensions([16, Buffer.concat([protocolsExtension('h2')[1], Buffer.from([0])])]),
    ],
  ];
  test.each(wrong)('rejects %s', (_what, body) => {
    expect(parseClientHello(body)).toBeUndefined();
  });

  test('rejects every beginning of a hello that has extensions', () => {
    const body = helloBody([name, protocolsExtension('h2')]);
    const whole = helloBody(undefined).length;
    const taken = [...body.keys()].filter((length) => parseClientHello(body.subarray(0, length)) !== undefined);
    // Up to TLS 1.2 a hello may end before the extensions.
    expect(taken).toEqual([whole]);
  });

  test('never throws, whatever byte changes', () => {
    const body = helloBody([name, protocolsExtension('h2', 'http/1.1'), [0x1a1a, Buffer.from([1, 2, 3])]]);
    for (let position = 0; position < body.length; position += 1) {
      for (const value of [0, 1, 2, 127, 255]) {
        const changed = Buffer.from(body);
        changed[position] = value;
        const hello = parseClientHello(changed);
        expect(hello === undefined || hello.protocols.length <= 2).toBe(true);
      }
    }
  });

  test.each(['TLSv1.2', 'TLSv1.3'] as const)('reads the hello of OpenSSL for %s', async (version) => {
    const bytes = await helloOf({
      servername: 'Shop.Example.com',
      ALPNProtocols: ['mqtt', 'h2'],
      minVersion: version,
      maxVersion: version,
    });
    expect(parseClientHello(bytes.subarray(9))).toEqual({ serverName: 'shop.example.com', protocols: ['mqtt', 'h2'] });
  });
});
