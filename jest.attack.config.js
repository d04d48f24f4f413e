// Attacks at full size, one after the other: each measures what it does to others.
import base from './jest.config.js';

/** @type {import('jest').Config} */
export default {
  ...base,
  roots: ['<rootDir>/test/attack'],
  maxWorkers: 1,
  testTimeout: 600_000,
};
