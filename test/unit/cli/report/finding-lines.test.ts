import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { findingLines } from '../../../../src/cli/report/finding-lines.ts';
import { filesOnly, policyOf } from '../../../../src/cli/settings.ts';
import { parseDocuments } from '../../../../src/files/parse.ts';
import { Workspace } from '../../../../src/workspace/workspace.ts';

const bundle = { minor: '1.7', channel: 'standard' } as const;

function route(number: number): string {
  return `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: route-${number}, namespace: shop }
spec: { parentRefs: [{ name: front }], rules: [{ backendRefs: [{ name: cart, port: 80 }] }] }
`;
}

test('others have turns of the event loop while the findings of many objects are collected', async () => {
  const workspace = new Workspace(filesOnly(bundle), policyOf('standard', bundle), []);
  const text = Array.from({ length: 1_000 }, (_, number) => route(number)).join('---\n');
  workspace.update(parseDocuments(text, 'a.yaml').documents);
  let turns = 0;
  const over = new AbortController();
  const count = async (): Promise<void> => {
    for (; !over.signal.aborted; turns += 1) await nextTurn();
  };
  const counting = count();
  const lines = await findingLines(workspace, [], { style: (_style, line) => line });
  over.abort();
  await counting;
  expect(turns).toBeGreaterThan(2);
  expect(lines[0]).toMatch(/^a\.yaml:4:22: warning \[parent-not-found\] /);
  expect(lines.length).toBeGreaterThanOrEqual(1_000);
});
