import { exemptionRule, lostProtectionRule, schemaRule, unknownFieldRule } from '../../core/admission/policy.ts';
import { allRules } from '../../core/rules/engine/registry.ts';

/** Rule ids of `check` itself. */
export const checkRules = {
  file: 'unreadable-file',
  scalar: 'ambiguous-scalar',
  object: 'invalid-object',
  duplicate: 'duplicate-object',
  suppression: 'suppression',
} as const;

/** Every rule id that a finding of `check` can have → one line about it. */
export const ruleSummaries: ReadonlyMap<string, string> = new Map([
  [schemaRule, 'The object violates the schema of its bundle: the API server rejects it.'],
  [unknownFieldRule, 'A field is unknown to the bundle: the API server drops it.'],
  [lostProtectionRule, 'A field that protects something is unknown to the bundle: the API server drops it.'],
  [exemptionRule, 'The exemption of an object is invalid, expired or forbidden.'],
  [checkRules.file, 'A file or a document in it is invalid.'],
  [checkRules.scalar, 'kubectl reads a scalar differently, because it uses YAML 1.1.'],
  [checkRules.object, 'A document is not a Kubernetes object: apiVersion, kind or metadata.name is missing.'],
  [checkRules.duplicate, 'Two documents define one object with different contents.'],
  [
    checkRules.suppression,
    'The annotation sallyport.dev/ignore has no reason, names an unknown rule, or has no effect.',
  ],
  ...allRules.map(({ id, summary }): [string, string] => [id, summary]),
]);
