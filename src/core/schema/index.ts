/** The versioned schema: the schemas of all kinds in every bundle and channel. */
export {
  allVariants,
  available,
  between,
  channels,
  experimental,
  minors,
  resolveAll,
  since,
  until,
  type Bundle,
  type Channel,
  type MaybeVersioned,
  type Minor,
} from './availability.ts';
export {
  bundlesOfSchema,
  isSameBundle,
  isSupportedBundle,
  parseBundleVersion,
  parseChannel,
  releases,
  supportedBundles,
  supportedMinors,
  type BundleVersion,
} from './bundle.ts';
export { applyDefaults } from './defaults.ts';
export { fieldDefaults, gatewayGroup } from './field-defaults.ts';
export { examinationOf, examine, type Examination, type WrittenObject } from './examine.ts';
export { enumOf, fieldIn } from './field.ts';
export type { FieldPath } from './json-values.ts';
export {
  findKind,
  isKindName,
  isSchemaKind,
  kindsByGroup,
  knownKinds,
  schemaTables,
  tables,
  type KindEntry,
  type KindName,
  type SchemaKind,
  type ViewAt,
  type ViewOf,
} from './kinds.ts';
export type { Node, ObjectNode, Semantic } from './node.ts';
export { readView, unreadableInteger, unreadableString, type FieldProblem, type ReadView } from './reader.ts';
export { nameOf as nameOfBundle, type StructureProblem } from './problem.ts';
export { visitSemantic, type Place, type SemanticValue, type Visit } from './semantic.ts';
export { versionOf, whyNotServed } from './served.ts';
export type { BackendTlsPolicyAlpha2 } from './tables/backend-tls-policy.ts';
export {
  bodyOf,
  customGroups,
  gatewayGroups,
  judgedGroups,
  multiclusterGroup,
  optionalGroups,
  type KindTable,
  type KindVersion,
} from './tables/table.ts';
export type { At, View } from './view.ts';
