import { describe, expect, test } from '@jest/globals';
import { grpcFields, grpcStatusIn, isCall } from '../../../../src/proxy/messages/grpc.ts';
import { reasons } from '../../../../src/proxy/messages/reasons.ts';
import type { AnswerReason } from '../../../../src/proxy/messages/reasons.ts';

test.each([
  ['application/grpc', true],
  ['application/grpc-web', false],
  [undefined, false],
])('%s is gRPC: %s', (type, expected) => {
  expect(isCall({ header: (name) => (name === 'content-type' ? type : undefined) })).toBe(expected);
});

test.each([
  [['grpc-status', '0'], 0],
  [['x', '1', 'Grpc-Status', '16', 'grpc-message', '5'], 16],
  [['grpc-message', '5'], undefined],
  // What gRPC does not know clients read as UNKNOWN.
  [['grpc-status', '17'], 2],
  [['grpc-status', '-1'], 2],
  [['grpc-status', ''], 2],
  [['grpc-status', '0x1'], 2],
  [['grpc-status', '5', 'grpc-status', '0'], 2],
])('the status in %j is %s', (fields, status) => {
  expect(grpcStatusIn(fields)).toBe(status);
});

describe('the status of a call that the proxy answers', () => {
  test.each([
    ['no-route', '12'],
    ['no-listener', '12'],
    ['bad-target', '13'],
    ['no-endpoints', '14'],
    ['connect-failed', '14'],
    ['backend-reset', '14'],
    ['backend-refused', '14'],
    ['request-timeout', '14'],
    ['backend-timeout', '14'],
    ['rule-failure', '14'],
    ['invalid-backend', '14'],
    ['no-backend', '14'],
    ['misdirected', '2'],
  ] as [AnswerReason, string][])('%s: %s', (reason, code) => {
    expect(grpcFields(reason)).toEqual([
      'content-type',
      'application/grpc',
      'grpc-status',
      code,
      'grpc-message',
      expect.stringMatching(/\.$/),
    ]);
  });

  test('messages can be read as they are sent', () => {
    const messages = reasons.flatMap((reason) =>
      reason === 'client-aborted' || reason === 'authorization-denied' ? [] : [grpcFields(reason)[5]],
    );
    expect(messages.filter((message) => !/^[\x20-\x24\x26-\x7e]+$/.test(message ?? ''))).toEqual([]);
  });
});
