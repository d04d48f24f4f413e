// ESM throughout: the runner needs --experimental-vm-modules (set by the Makefile), and fakes are passed
// as arguments instead of being mocked into modules.
/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2024', parser: { syntax: 'typescript' } }, module: { type: 'es6' } },
    ],
  },
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  testTimeout: 20_000,
  workerIdleMemoryLimit: '1GB',
};
