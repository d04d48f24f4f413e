import { expect, test } from '@jest/globals';
import { ReadinessGate } from '../../../../src/cli/process/readiness.ts';

test('ready means: everything has started, nothing is missing, and nobody stops it', () => {
  let isStopping = false;
  const problems = ['no objects yet'];
  const gate = new ReadinessGate(() => isStopping);
  gate.require(() => problems);
  expect(gate.now()).toEqual({ ready: false, reasons: ['starting', 'no objects yet'] });
  gate.started();
  expect(gate.now()).toEqual({ ready: false, reasons: ['no objects yet'] });
  gate.require(() => ['not trusted']);
  problems.pop();
  expect(gate.now()).toEqual({ ready: false, reasons: ['not trusted'] });
});

test('nothing missing is ready, until it stops', () => {
  let isStopping = false;
  const gate = new ReadinessGate(() => isStopping);
  gate.require(() => []);
  gate.started();
  expect(gate.now()).toEqual({ ready: true, reasons: [] });
  isStopping = true;
  expect(gate.now()).toEqual({ ready: false, reasons: ['stopping'] });
});
