import { describe, expect, test } from '@jest/globals';
import { prunedFields } from '../../../../../src/core/rules/objects/field-pruned.ts';
import { formatPath } from '../../../../../src/core/resources/path.ts';
import { soundGateway } from '../../../../support/rules.ts';

const standard = { minor: '1.7', channel: 'standard' } as const;

function pruned(applied: unknown, bundle: Parameters<typeof prunedFields>[1] = standard) {
  const note = typeof applied === 'string' ? applied : JSON.stringify(applied);
  const json = {
    ...(soundGateway() as object),
    metadata: { name: 'front', annotations: { 'kubectl.kubernetes.io/last-applied-configuration': note } },
  };
  return prunedFields({ kind: 'Gateway', apiVersion: 'gateway.networking.k8s.io/v1', json }, bundle).map(
    ({ path, message }) => [formatPath(path), message],
  );
}

describe('field-pruned', () => {
  test.each(['', '{', 'null', '[]', '{"kind":"HTTPRoute"}'])(
    'a note that is none of this object, %j, says nothing',
    (note) => {
      expect(pruned(note)).toEqual([]);
    },
  );

  test('nothing was dropped', () => {
    expect(pruned(soundGateway())).toEqual([]);
  });

  test('what protects something says so', () => {
    expect(pruned(soundGateway({ filters: { requests: [] } }))).toEqual([
      [
        'spec.listeners[0].filters',
        'The stored object lacks the applied field filters. Unknown field: it is in the experimental channel since v1.7, not in v1.7 standard, so the API server drops it. Without it, requests pass without the authentication that these filters require.',
      ],
    ]);
    expect(pruned(soundGateway({ filters: { requests: [] } }), { minor: '1.7', channel: 'experimental' })).toEqual([]);
  });

  test('a note that is longer than annotations can be says nothing', () => {
    const [finding] = pruned(soundGateway({ hostnam: 'x'.repeat(260_000) }));
    expect(finding).toBeDefined();
    expect(pruned(soundGateway({ hostnam: 'x'.repeat(262_144) }))).toEqual([]);
  });

  test('a typing error', () => {
    expect(pruned(soundGateway({ hostnam: 'a.example' }))).toEqual([
      [
        'spec.listeners[0].hostnam',
        'The stored object lacks the applied field hostnam. Unknown field in v1.7 standard, so the API server drops it. Did you mean hostname?',
      ],
    ]);
  });
});
