// Attacks at full size, one after the other: each measures what it does to others.
import base from './jest.config.js';

/** @type {import('jest').Config} */
export default {
  ...base,
  // The random sequences of connects, requests and closes have a full size, too.
  testMatch: ['<rootDir>/test/attack/**/*.test.ts', '<rootDir>/test/property/proxy-lifecycle.test.ts'],
  maxWorkers: 1,
  testTimeout: 600_000,
};
