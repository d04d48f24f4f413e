import { expect, test } from '@jest/globals';
import { answerFor, rawAnswer, rawAnswerToAnyMethod, reasons } from '../../../../src/proxy/messages/reasons.ts';

const own = reasons.filter((reason) => reason !== 'client-aborted' && reason !== 'authorization-denied');

test.each(own)('%s has an answer that names its status and says why in a sentence', (reason) => {
  const { status, body } = answerFor(reason);
  expect(status).toBeGreaterThanOrEqual(400);
  expect(body.toString()).toMatch(new RegExp(`^${status} [A-Z][A-Za-z -]+\\n[A-Z][^\\n]+\\.\\n$`));
});

test('a raw answer is a whole HTTP/1.1 message', () => {
  const [head = '', body = ''] = rawAnswer('bad-request').toString().split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  expect(head).toContain(`content-length: ${body.length}`);
  expect(head).toMatch(/\r\nconnection: close$/);
});

test('a raw answer to a request whose method is unknown has no content', () => {
  const answer = rawAnswerToAnyMethod('overloaded').toString();
  expect(answer).toMatch(/^HTTP\/1\.1 503 Service Unavailable\r\n/);
  expect(answer).toMatch(/\r\ncontent-length: 0\r\nconnection: close\r\nretry-after: 1\r\n\r\n$/);
  expect(answer).not.toContain('content-type');
});
