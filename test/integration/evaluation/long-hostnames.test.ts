import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';

/** Evaluates a Gateway and 100 ListenerSets whose HTTPS listeners have wildcards of 125 labels. */
const program = `
import('./test/support/evaluation.ts').then(({ evaluate, listenerSet, ourClass }) => {
  const listener = (number) => ({
    name: 'l' + number,
    hostname: '*.' + [...number.toString(2).padStart(13, '0').repeat(10).slice(0, 125)].join('.'),
    port: 443,
    protocol: 'HTTPS',
    tls: { certificateRefs: [{ name: 'good' }] },
  });
  const listeners = (first) => Array.from({ length: 64 }, (_, index) => listener(first + index));
  const gateway = {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name: 'web', namespace: 'shop' },
    spec: { gatewayClassName: 'sallyport', allowedListeners: { namespaces: { from: 'All' } }, listeners: listeners(0) },
  };
  const sets = Array.from({ length: 100 }, (_, set) => ({
    ...listenerSet({ parentRef: { name: 'web' }, listeners: listeners(64 * (set + 1)) }),
    metadata: { name: 'set-' + set, namespace: 'shop' },
  }));
  evaluate([ourClass, gateway, ...sets], { bundle: { minor: '1.7', channel: 'experimental' } });
});
`;

// A process has 384 MiB for everything. A tree of the labels took 170 MiB.
test('thousands of wildcards with 125 labels each do not fill the memory', () => {
  const options = ['--max-old-space-size=128', '--disable-warning=ExperimentalWarning', '--eval', program];
  const { status, stderr } = spawnSync(process.execPath, options, {
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  expect(stderr).toBe('');
  expect(status).toBe(0);
});
