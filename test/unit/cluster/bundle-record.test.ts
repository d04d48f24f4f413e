import { setImmediate } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { BundleRecord } from '../../../src/cluster/bundle-record.ts';
import type { WireObject, WriteResult } from '../../../src/controller/index.ts';
import { createLogger } from '../../../src/telemetry/index.ts';
import { annotations, bundle, installedKind } from '../../support/doctor.ts';

function started(results: readonly WriteResult[] = [], isLeading = () => true) {
  const lines: string[] = [];
  const applied: WireObject[] = [];
  let stored: WireObject | undefined;
  const answers = [...results];
  const record = new BundleRecord({
    namespace: 'sallyport-system',
    isLeading,
    log: createLogger('info', { write: (line) => lines.push(line) }),
    writer: {
      read: () =>
        Promise.resolve(
          answers.shift() ??
            (stored === undefined ? { type: 'notFound', message: 'not found' } : { type: 'ok', object: stored }),
        ),
      apply(object) {
        const answer = answers.shift() ?? { type: 'ok' };
        if (answer.type === 'ok') stored = object;
        applied.push(object);
        return Promise.resolve(answer);
      },
    },
  });
  return { record, applied, logged: () => lines.map((line) => (JSON.parse(line) as { readonly msg: string }).msg) };
}

function kinds(version: string) {
  const of = bundle((plural) => installedKind(plural, { annotations: annotations(version, 'experimental') }));
  return new Map(of.slice(0, 1).map((kind) => [kind.name, kind]));
}

test('a ConfigMap keeps version and channel of each CRD', async () => {
  const { record, applied, logged } = started();
  expect([...(await record.read())]).toEqual([]);
  await record.write(kinds('v1.7.0'));
  const [name = ''] = kinds('v1.7.0').keys();
  expect(applied).toMatchObject([
    {
      kind: 'ConfigMap',
      metadata: { namespace: 'sallyport-system', name: 'sallyport-installed-crds' },
      data: { [name]: 'v1.7.0 experimental' },
    },
  ]);
  expect((await record.read()).get(name)?.annotations).toEqual(annotations('v1.7.0', 'experimental'));
  expect(logged()).toEqual([]);
});

test('it is written only after changes', async () => {
  const { record, applied } = started();
  await record.write(kinds('v1.7.0'));
  await record.write(kinds('v1.7.0'));
  await record.write(kinds('v1.6.0'));
  expect(applied).toHaveLength(2);
});

test('it is written at the start of a term, because another replica may have written it since', async () => {
  const { record, applied } = started();
  await record.write(kinds('v1.7.0'));
  record.begin();
  await record.write(kinds('v1.7.0'));
  expect(applied).toHaveLength(2);
});

test('failures are logged, and a failed write is repeated with the next call', async () => {
  const failed: WriteResult = { type: 'forbidden', message: 'no' };
  const { record, applied, logged } = started([failed, failed]);
  expect([...(await record.read())]).toEqual([]);
  await record.write(kinds('v1.7.0'));
  await record.write(kinds('v1.7.0'));
  expect(applied).toHaveLength(2);
  expect(logged()).toEqual(['cannot read the recorded CRDs', 'cannot record the installed CRDs']);
});

test.each([
  ['without data', {}],
  ['with other data', { data: { 'a.example.com': 7, 'b.example.com': '' } }],
])('a ConfigMap %s names no bundle', async (_what, parts) => {
  const object = { metadata: { name: 'sallyport-installed-crds' }, ...parts };
  const { record } = started([{ type: 'ok', object }]);
  for (const { annotations: read } of (await record.read()).values())
    expect(Object.values(read).filter((text) => text !== '')).toEqual([]);
});

test('writes do not overlap, and the latest one wins', async () => {
  const sent: { readonly object: WireObject; readonly answer: (result: WriteResult) => void }[] = [];
  const record = new BundleRecord({
    namespace: 'sallyport-system',
    isLeading: () => true,
    log: createLogger('info', { write: () => {} }),
    writer: {
      read: () => Promise.resolve({ type: 'notFound', message: 'not found' }),
      apply: (object) => new Promise((answer) => sent.push({ object, answer })),
    },
  });
  const [name = ''] = kinds('v1.7.0').keys();
  const written = ['v1.5.0', 'v1.6.0', 'v1.7.0'].map((version) => record.write(kinds(version)));
  await setImmediate();
  expect(sent).toHaveLength(1);
  sent[0]?.answer({ type: 'ok' });
  await setImmediate();
  expect(sent).toHaveLength(2);
  sent[1]?.answer({ type: 'ok' });
  await Promise.all(written);
  expect(sent).toMatchObject(
    ['v1.5.0', 'v1.7.0'].map((version) => ({ object: { data: { [name]: `${version} experimental` } } })),
  );
});

test('the end of a term, which aborts a write, is not a problem', async () => {
  const { record, applied, logged } = started(
    [{ type: 'unavailable', message: 'the lease was lost to another' }],
    () => false,
  );
  await record.write(kinds('v1.7.0'));
  expect(applied).toHaveLength(1);
  expect(logged()).toEqual([]);
  record.begin();
  await record.write(kinds('v1.7.0'));
  expect(applied).toHaveLength(2);
});
