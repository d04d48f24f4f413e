import { expect, test } from '@jest/globals';
import { assumedBundle, filesOnly, policyOf } from '../../../../src/cli/settings.ts';
import { printServing } from '../../../../src/cli/standalone/report-serving.ts';
import { printStatuses } from '../../../../src/cli/standalone/report-status.ts';
import { configuration } from '../../../../src/core/routing/emit.ts';
import { statuses } from '../../../../src/core/status/emit.ts';
import { parseDocuments } from '../../../../src/files/parse.ts';
import { Workspace } from '../../../../src/workspace/workspace.ts';
import { gatewayObjects } from '../../../support/standalone-objects.ts';

const listener = String.raw`{ name: "http\e[5m", port: 80, protocol: HTTP }`;
const objects = String.raw`${gatewayObjects({ name: String.raw`"web\e[31m"`, namespace: String.raw`"shop\e[2J"` }, listener)}---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: "cart\n\e[2J", namespace: "shop\e[2J" }
spec:
  parentRefs: [{ name: "web\e[31m" }]
  hostnames: [shop.example.com]
  rules: [{ matches: [{ path: { value: "/a';b;'" }, headers: [{ name: x-a, value: "it's $(c) \e[1m" }] }] }]
`;

/** What is printed about the objects of a file in which all names begin escape sequences of a terminal. */
function printed(): readonly string[] {
  const workspace = new Workspace(filesOnly(assumedBundle), policyOf('standard', assumedBundle), [
    configuration,
    statuses,
  ]);
  workspace.update(parseDocuments(objects, 'a.yaml').documents);
  const lines: string[] = [];
  const line = (text = ''): void => void lines.push(text);
  const terminal = { line, heading: line, style: (_style: unknown, text: string) => text };
  printStatuses(terminal, workspace.kernel.emitted(statuses));
  const listeners = [...workspace.kernel.emitted(configuration).values()]
    .filter((resource) => resource.kind === 'listener')
    .map((one) => ({ listener: one, addresses: [{ host: '127.0.1.1', port: 8080 }] }));
  const place = { host: '127.0.0.1', port: 9443 };
  const backends = [{ ...place, service: 'shop/\u001b[2J' }];
  printServing(terminal, { listeners, backends, webhook: { ...place, caFile: 'ca.crt' }, probes: place }, workspace);
  return lines;
}

test('names and values of objects cannot control the terminal', () => {
  const lines = printed();
  expect(lines.join('\n')).toContain(
    String.raw`HTTPRoute shop\u001b[2J/cart\n\u001b[2J on shop\u001b[2J/web\u001b[31m`,
  );
  // eslint-disable-next-line no-control-regex
  expect(lines.filter((line) => /[\u0000-\u001f]/.test(line))).toEqual([]);
});

test('suggested commands have one word for each value of an object, whatever it contains', () => {
  expect(printed()).toContain(
    String.raw`  curl -i -H 'x-a: it'\''s $(c) \u001b[1m' -H 'host: shop.example.com' 'http://127.0.1.1:8080/a'\'';b;'\'''`,
  );
});
