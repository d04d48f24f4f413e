// End-to-end tests share one real cluster: one file after another, and everything takes its time.
import base from './jest.config.js';

// These call pods, Services or the node by address, which works inside of our own cluster's network only, or remove CRDs that other
// tools of a cluster of somebody else may use.
const ownClusterOnly = [
  'audit-reports',
  'controller',
  'controller-surroundings',
  'hostile',
  'no-drop',
  'no-drop-layer4',
  'reviews',
  'rotation',
  'webhook-configuration',
  'x-backend',
];

/** @type {import('jest').Config} */
export default {
  ...base,
  roots: ['<rootDir>/test/e2e'],
  testMatch: ['**/*.e2e.ts'],
  testPathIgnorePatterns:
    process.env['CLUSTER_STATE'] === undefined ? ownClusterOnly.map((name) => `/${name}\\.e2e\\.ts$`) : [],
  globalSetup: '<rootDir>/test/e2e/support/guard.ts',
  maxWorkers: 1,
  testTimeout: 300_000,
};
