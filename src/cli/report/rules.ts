import { lostProtectionRule, schemaRule, unknownFieldRule } from '../../core/admission/policy.ts';
import { allRules } from '../../core/rules/engine/registry.ts';

/** Ids of what `check` itself has to say. */
export const checkRules = {
  file: 'unreadable-file',
  scalar: 'ambiguous-scalar',
  object: 'invalid-object',
  duplicate: 'duplicate-object',
  suppression: 'suppression',
} as const;

/** Every id that a finding of `check` can have → one line about it. */
export const ruleSummaries: ReadonlyMap<string, string> = new Map([
  [schemaRule, 'The object does not fit the schema of its bundle: the API server refuses it.'],
  [unknownFieldRule, 'A field is unknown to the bundle: the API server drops it.'],
  [lostProtectionRule, 'A field that protects something is unknown to the bundle: the API server drops it.'],
  [checkRules.file, 'A file, or a document in it, cannot be read.'],
  [checkRules.scalar, 'A scalar means something else to kubectl, which reads YAML 1.1.'],
  [checkRules.object, 'A document is no Kubernetes object: apiVersion, kind or metadata.name is missing.'],
  [checkRules.duplicate, 'Two documents define one object with different contents.'],
  [checkRules.suppression, 'The annotation sallyport.dev/ignore gives no reason, names no rule, or has no effect.'],
  ...allRules.map(({ id, summary }): [string, string] => [id, summary]),
]);
