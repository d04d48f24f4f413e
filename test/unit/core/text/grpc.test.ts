import { describe, expect, test } from '@jest/globals';
import { isGrpc } from '../../../../src/core/text/grpc.ts';

describe('requests of gRPC by their content-type', () => {
  test.each([
    'application/grpc',
    'application/grpc+proto',
    'application/grpc;charset=utf-8',
    'Application/gRPC+json',
    'application/grpc ; a=b',
  ])('%s', (contentType) => {
    expect(isGrpc(contentType)).toBe(true);
  });

  test.each([
    undefined,
    '',
    'application/json',
    'application/grpc-web',
    'application/grpc-web+proto',
    'application/grpcs',
    'text/plain; application/grpc',
  ])('%s is none', (contentType) => {
    expect(isGrpc(contentType)).toBe(false);
  });
});
