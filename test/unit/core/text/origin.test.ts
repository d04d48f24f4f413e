import { describe, expect, test } from '@jest/globals';
import { canonicalOrigin } from '../../../../src/core/text/origin.ts';

describe('origins that a CORS filter allows', () => {
  test.each([
    ['*', '*'],
    ['https://Shop.Example.COM', 'https://shop.example.com'],
    ['https://shop.example.com:443', 'https://shop.example.com'],
    ['http://shop.example.com:80', 'http://shop.example.com'],
    ['http://shop.example.com:443', 'http://shop.example.com:443'],
    ['http://localhost:3000', 'http://localhost:3000'],
    ['https://*.example.com', 'https://*.example.com'],
    ['https://*:8443', 'https://*:8443'],
  ])('%s', (written, canonical) => {
    expect(canonicalOrigin(written)).toBe(canonical);
  });

  test.each([
    '',
    'shop.example.com',
    'ftp://shop.example.com',
    'https://',
    'https://shop.example.com/',
    'https://a.*.com',
    'https://*a.com',
    'https://a.com:123456',
    'https://a.com\n',
    'null',
  ])('%j is none', (text) => {
    expect(canonicalOrigin(text)).toBeUndefined();
  });
});
