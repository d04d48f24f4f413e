import { describe, expect, test } from '@jest/globals';
import { reportWorkspace } from '../../../../src/cli/report/findings.ts';
import { filesAmongOthers, policyOf } from '../../../../src/cli/settings.ts';
import { Workspace } from '../../../../src/workspace/workspace.ts';
import { parseDocuments } from '../../../../src/files/parse.ts';

const bundle = { minor: '1.7', channel: 'standard' } as const;

function route(request: string): string {
  return `kind: HTTPRoute
apiVersion: gateway.networking.k8s.io/v1
metadata: { name: cart, namespace: shop }
spec: { parentRefs: [{ name: front }], rules: [{ timeouts: { request: ${request} }, backendRefs: [{ name: cart, port: 80 }] }] }
`;
}

/** The findings of some files, by file. */
function findingsOf(files: Readonly<Record<string, string>>, severity: 'warning' | 'error'): readonly unknown[] {
  const workspace = new Workspace(filesAmongOthers(bundle), policyOf('standard', bundle), []);
  workspace.update(Object.entries(files).flatMap(([file, text]) => parseDocuments(text, file).documents));
  return [...reportWorkspace(workspace, [], severity)].map((reported) => [
    reported.file,
    reported.type,
    ...reported.findings.map((finding) => `${finding.severity} ${finding.rule}`),
  ]);
}

describe('two documents of one object', () => {
  test('with equal contents are no finding, in whatever order keys come', () => {
    const [apiVersion, kind, ...rest] = route('1s').split('\n');
    expect(
      findingsOf({ 'a.yaml': route('1s'), 'b.yaml': [kind, apiVersion, '# c', ...rest].join('\n') }, 'error'),
    ).toEqual([
      ['a.yaml', 'judged'],
      ['b.yaml', 'judged'],
    ]);
  });

  test.each(['warning', 'error'] as const)(
    'with different contents are a finding of the given severity: %s',
    (severity) => {
      expect(findingsOf({ 'a.yaml': route('1s'), 'b.yaml': route('2s') }, severity)).toEqual([
        ['a.yaml', 'judged'],
        ['b.yaml', 'judged', `${severity} duplicate-object`],
      ]);
    },
  );

  test('are judged each by itself', () => {
    expect(findingsOf({ 'a.yaml': route('1s'), 'b.yaml': route('1.5s'), 'c.yaml': route('1s') }, 'warning')).toEqual([
      ['a.yaml', 'judged'],
      ['b.yaml', 'judged', 'warning duplicate-object', 'error duration-form'],
      ['c.yaml', 'judged'],
    ]);
    expect(findingsOf({ 'a.yaml': route('1.5s'), 'b.yaml': route('1.5s') }, 'warning')).toEqual([
      ['a.yaml', 'judged', 'error duration-form'],
      ['b.yaml', 'judged', 'error duration-form'],
    ]);
  });

  test('say where the other one is', () => {
    const workspace = new Workspace(filesAmongOthers(bundle), policyOf('standard', bundle), []);
    workspace.update([
      ...parseDocuments(`# c\n${route('1s')}`, 'a.yaml').documents,
      ...parseDocuments(route('2s'), 'b.yaml').documents,
    ]);
    const messages = [...reportWorkspace(workspace, [], 'warning')].flatMap(({ findings }) =>
      findings.map(({ message }) => message),
    );
    expect(messages).toEqual([
      'Duplicate object: a.yaml:2 defines HTTPRoute "shop/cart" with different contents, and other objects are checked against those. Remove one of the two documents, or rename one object.',
    ]);
  });
});
