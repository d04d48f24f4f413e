import { readFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { load } from 'js-yaml';
import { tables } from '../../src/core/schema/index.ts';
import { compileToJsonSchema } from '../../src/core/schema/compile.ts';
import { hashSchema } from '../../src/kubernetes/custom-resource-definition.ts';

interface Definition {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly scope: string;
    readonly names: { readonly plural: string; readonly kind: string };
    readonly versions: readonly [{ readonly name: string; readonly schema: { readonly openAPIV3Schema: object } }];
  };
}

const table = tables.HostnamePolicy;

describe('the CRD of HostnamePolicy', () => {
  test('has the schema of its table', async () => {
    const file = new URL('../../deploy/components/hostname-policy/crd.yaml', import.meta.url);
    const definition = load(await readFile(file, 'utf8')) as Definition;
    const [version] = definition.spec.versions;
    const schema = compileToJsonSchema(table, version.name, { minor: '1.7', channel: 'standard' });
    expect(hashSchema(version.schema.openAPIV3Schema)).toBe(hashSchema(schema));
    expect(definition).toMatchObject({
      metadata: { name: `${table.plural}.${table.group}` },
      spec: { scope: 'Cluster', names: { kind: table.kind, plural: table.plural } },
    });
  });
});
