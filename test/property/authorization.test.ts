import { afterAll, afterEach, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { authorizedBy } from '../support/authorization.ts';
import { closeBackends, startBackend, startRawBackend } from '../support/backends.ts';
import { endpointsConfig } from '../support/config.ts';
import { closeProxies, prefixRule, send, startProxy, throwFault, webRoute } from '../support/proxy.ts';

// Whatever an authorization server does, a backend sees only requests that it has permitted by a whole answer with status 200.

afterEach(closeProxies);
afterAll(closeBackends);

const permission = 'HTTP/1.1 200 OK\r\nx-user: ann\r\ncontent-length: 5\r\n\r\nhello';
const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n';
const whole: ReadonlySet<string> = new Set([permission, chunked]);

const others = [
  100, 102, 103, 199, 201, 202, 203, 204, 206, 299, 300, 301, 302, 304, 400, 401, 403, 404, 500, 502, 503, 599, 600,
  999,
];
const answer = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(permission, chunked) },
  { weight: 3, arbitrary: fc.constantFrom(...others).map((status) => permission.replace('200', String(status))) },
  // The end is missing.
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom(permission, chunked), fc.nat(60))
      .map(([text, cut]) => text.slice(0, -1 - (cut % (text.length - 1)))),
  },
  // Something in the head is broken.
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello',
      'HTTP/1.1  200 OK\r\ncontent-length: 0\r\n\r\n',
      'HTTP/2 200 OK\r\n\r\n',
      '200 OK\r\n\r\n',
      'HTTP/1.1 200 OK\r\n x: y\r\ncontent-length: 0\r\n\r\n',
      'HTTP/1.1 200 OK\ncontent-length: 0\n\n',
      'HTTP/1.1 0200 OK\r\ncontent-length: 0\r\n\r\n',
      '\0',
    ),
  },
);
const question = fc.record({
  answer,
  method: fc.constantFrom('POST', 'PUT', 'PATCH'),
  body: fc.constantFrom('', 'x', 'b'.repeat(2_000)),
  maxBody: fc.constantFrom(0, 1_000),
});

/** The server closes its connections after most answers. The second permitted request met three of them in a row. */
const closingAfterAnswers = [
  'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello',
  ...[500, 200, 200, 599, 301].map((status) => permission.replace('200', String(status))),
].map((bytes) => ({ answer: bytes, method: 'POST', body: '', maxBody: 0 }));

test('a backend sees the requests that were permitted, and no others', async () => {
  const answers = new Map<string, string>();
  // As HTTP has it, one request after the other on a connection; it closes after each answer that is not whole.
  const auth = await startRawBackend((socket) => {
    let received = '';
    socket
      .on('end', () => socket.end())
      .on('data', (chunk: Buffer) => {
        received += chunk.toString('latin1');
        const [, id, length] = /^\S+ \/(\d+)\/\d+ [^]*?content-length: (\d+)\r\n[^]*?\r\n\r\n/.exec(received) ?? [];
        if (id === undefined || received.length - received.indexOf('\r\n\r\n') - 4 < Number(length)) return;
        received = '';
        const bytes = answers.get(id) ?? '';
        socket.write(bytes, 'latin1', () => whole.has(bytes) || socket.end());
      });
  });
  const reached: string[] = [];
  const app = await startBackend((request, response) => {
    reached.push(request.url?.split('/')[1] ?? '');
    request.resume().on('end', () => response.end());
  });
  const filter = (maxBody: number) => authorizedBy('auth', { maxBody });
  const rules = [0, 1_000].map((maxBody, index) => ({
    ...prefixRule('/', [filter(maxBody)]),
    index,
    matches: [
      { index: 0, path: { type: 'RegularExpression' as const, value: `/\\d+/${maxBody}` }, headers: [], query: [] },
    ],
  }));
  const { port } = await startProxy(
    [endpointsConfig('app', app.port), endpointsConfig('auth', auth.port), webRoute(...rules)],
    { onFault: throwFault },
  );
  let next = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(question, { minLength: 1, maxLength: 6 }), async (questions) => {
      reached.length = 0;
      const asked = questions.map((one) => ({ ...one, id: String((next += 1)) }));
      for (const { id, answer: bytes } of asked) answers.set(id, bytes);
      const statuses = await Promise.all(
        asked.map(
          async ({ id, method, body, maxBody }) => (await send(port, `/${id}/${maxBody}`, { method, body })).status,
        ),
      );
      const permitted = asked
        .filter(({ answer: bytes, body, maxBody }) => whole.has(bytes) && (maxBody === 0 || body.length <= maxBody))
        .map(({ id }) => id);
      expect(reached.toSorted()).toEqual(permitted.toSorted());
      expect(asked.filter((_, position) => statuses[position] === 200).map(({ id }) => id)).toEqual(permitted);
    }),
    { numRuns: 200, examples: [[closingAfterAnswers]] },
  );
}, 60_000);
