import { createHash } from 'node:crypto';
import type { Bundle } from '../src/core/schema/availability.ts';
import type { OfficialBundle } from './official-crds.ts';

/** One CEL rule at one location of one version of a kind. */
export interface OfficialRule {
  readonly bundle: Bundle;
  readonly kind: string;
  readonly version: string;
  /** `spec.rules[].filters`: `[]` stands for each item. */
  readonly path: string;
  /** Hash of the rule's text, ignoring white space. */
  readonly hash: string;
  readonly text: string;
}

/** All CEL rules in the CRDs of a bundle. */
export function officialRules({ bundle, crds }: OfficialBundle): readonly OfficialRule[] {
  return crds.flatMap(({ spec: { names, versions } }) =>
    versions.flatMap(({ name, schema }) =>
      rulesIn(schema.openAPIV3Schema, '').map(({ path, text }) => ({
        bundle,
        kind: names.kind,
        version: name,
        path,
        hash: hashOf(text),
        text,
      })),
    ),
  );
}

function hashOf(text: string): string {
  return createHash('sha256').update(text.replace(/\s+/g, ' ').trim()).digest('hex').slice(0, 12);
}

interface Found {
  readonly path: string;
  readonly text: string;
}

interface SchemaNode {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly 'x-kubernetes-validations'?: readonly { readonly rule: string }[];
}

function rulesIn(schema: unknown, path: string): readonly Found[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties = {}, items, additionalProperties, 'x-kubernetes-validations': here = [] } = schema as SchemaNode;
  return [
    ...here.map(({ rule }) => ({ path, text: rule })),
    ...Object.entries(properties).flatMap(([name, child]) => rulesIn(child, path === '' ? name : `${path}.${name}`)),
    ...rulesIn(items, `${path}[]`),
    ...rulesIn(additionalProperties, `${path}{}`),
  ];
}
