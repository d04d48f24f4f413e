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
  // Only a test that hangs takes so long: some start three processes, on a machine that may be busy.
  testTimeout: 60_000,
  workerIdleMemoryLimit: '1GB',
};
