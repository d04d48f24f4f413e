import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { formatIpAddress } from '../../src/core/text/ip-address.ts';
import { starts } from '../../src/proxy/proxy-protocol/format.ts';
import { parseProxyHeader } from '../../src/proxy/proxy-protocol/parse.ts';
import { writeProxyHeader } from '../../src/proxy/proxy-protocol/write.ts';

const limit = 4_096;
const address = fc.oneof(fc.ipV4(), fc.bigInt(0n, (1n << 128n) - 1n).map(formatIpAddress));
const end = fc.record({ host: address, port: fc.integer({ min: 0, max: 65_535 }) });
const origin = fc.record({ client: end, destination: end });
const version = fc.constantFrom('v1' as const, 'v2' as const);
/** Beginnings that get beyond the first comparison. */
const almost = fc
  .tuple(
    fc.constantFrom(
      starts.v1,
      starts.v2,
      Buffer.concat([starts.v2, Buffer.from([0x21, 0x11, 0, 60])]),
      Buffer.from('PROXY TCP4 '),
      Buffer.alloc(0),
    ),
    fc.uint8Array({ maxLength: 200 }),
  )
  .map(([start, rest]) => Buffer.concat([start, rest]));

describe('the PROXY protocol', () => {
  test('reads what it writes, whatever follows', () => {
    fc.assert(
      fc.property(version, origin, fc.uint8Array({ maxLength: 20 }), (written, from, rest) => {
        const header = writeProxyHeader(written, from);
        expect(parseProxyHeader(Buffer.concat([header, rest]), limit)).toEqual({ length: header.length, origin: from });
      }),
    );
  });

  test('every part of a header is incomplete', () => {
    fc.assert(
      fc.property(version, origin, (written, from) => {
        const header = writeProxyHeader(written, from);
        for (let split = 0; split < header.length; split += 1)
          expect(parseProxyHeader(header.subarray(0, split), limit)).toBeUndefined();
      }),
    );
  });

  test('a damaged byte never throws, and never changes where the header ends within version 2', () => {
    fc.assert(
      fc.property(origin, fc.nat({ max: 100_000 }), fc.integer({ min: 1, max: 255 }), (from, where, difference) => {
        const header = writeProxyHeader('v2', from);
        // The length apart.
        const position = [14, 15].includes(where % header.length) ? 13 : where % header.length;
        header[position] = (header[position] ?? 0) ^ difference;
        const read = parseProxyHeader(header, limit);
        expect(read).toEqual(typeof read === 'object' ? { length: header.length, origin: read.origin } : 'malformed');
      }),
    );
  });

  test('a decision stands, whatever follows', () => {
    fc.assert(
      fc.property(almost, fc.uint8Array({ maxLength: 50 }), (bytes, rest) => {
        const read = parseProxyHeader(bytes, limit);
        const later = parseProxyHeader(Buffer.concat([bytes, rest]), limit);
        expect(later).toEqual(read ?? later);
      }),
      { numRuns: 500 },
    );
  });
});
