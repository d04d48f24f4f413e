/** The versioned schema: what every kind looks like in every bundle and channel. */
export { minors, channels, type Bundle, type Channel, type Minor } from './availability.ts';
export { findKind, isKindName, knownKinds, tables, type KindEntry, type KindName, type ViewOf } from './kinds.ts';
export type { Node, Semantic } from './node.ts';
export {
  readView, unreadableInteger, unreadableString, type FieldPath, type FieldProblem, type ReadView,
} from './reader.ts';
export type { KindTable, KindVersion } from './tables/table.ts';
export type { View } from './view.ts';
