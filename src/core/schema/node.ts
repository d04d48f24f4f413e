import type { MaybeVersioned } from './availability.ts';

/**
 * The node types of the tables: plain data that describes the valid JSON values, bundle by bundle. TypeScript types of
 * views, the tolerant reader, defaults, validators and the walk by semantics are all derived from it.
 */
export type Node = StringNode | IntegerNode | BooleanNode | ObjectNode | ListNode | MapNode | IntOrStringNode;

/** The meaning of a value for rules, wherever it occurs. */
export type Semantic =
  /** GEP-2257. */
  | 'duration'
  /** A DNS name, optionally with a wildcard as the first label. */
  | 'hostname'
  /** A DNS name without wildcard. */
  | 'preciseHostname'
  | 'headerName'
  | 'headerValue'
  /** A list of header names whose schema does not check that they are tokens. */
  | 'headerNameList'
  | 'queryName'
  | 'queryValue'
  /** The value of a path match. */
  | 'pathValue'
  /** The value of a match whose sibling `type` selects exact comparison or regular expression. */
  | 'regexOrValue'
  /** The replacement of a path or path prefix. */
  | 'pathReplacement'
  /** The name of a listener or route rule. */
  | 'sectionName'
  /** metav1.LabelSelector. */
  | 'labelSelector'
  /** An object with `set`, `add` and `remove`. */
  | 'headerModifier'
  /** The header matches of one match. */
  | 'headerMatches'
  /** The filters of one route rule or backendRef. */
  | 'filters';

interface Marked {
  readonly semantics?: readonly Semantic[];
  /** For messages: the expected form, with an example, if a pattern or an alternative does not match. */
  readonly form?: string;
  /** For messages: the replacement of this field in bundles without it. */
  readonly instead?: MaybeVersioned<string>;
  /** A sentence about the protection that is lost if a bundle drops this field; only if there is one. */
  readonly lost?: string;
}

export interface StringOptions extends Marked {
  /** Unicode code points. */
  readonly maxLength?: MaybeVersioned<number>;
  readonly minLength?: MaybeVersioned<number>;
  /** RE2 syntax; unanchored. */
  readonly pattern?: MaybeVersioned<string>;
  readonly enum?: readonly MaybeVersioned<string>[];
  readonly format?: 'date-time' | 'byte';
  readonly default?: MaybeVersioned<string>;
}

export interface StringNode extends StringOptions {
  readonly type: 'string';
}

export interface IntegerOptions extends Marked {
  readonly minimum?: MaybeVersioned<number>;
  readonly maximum?: MaybeVersioned<number>;
  readonly enum?: readonly MaybeVersioned<number>[];
  readonly format?: MaybeVersioned<'int32' | 'int64'>;
  readonly default?: MaybeVersioned<number>;
}

export interface IntegerNode extends IntegerOptions {
  readonly type: 'integer';
}

export interface BooleanOptions extends Marked {
  readonly default?: MaybeVersioned<boolean>;
  readonly enum?: readonly MaybeVersioned<boolean>[];
}

export interface BooleanNode extends BooleanOptions {
  readonly type: 'boolean';
}

/** The properties of an object. A property whose type differs between bundles may have several variants. */
export interface Fields {
  readonly [name: string]: MaybeVersioned<Node>;
}

export interface ObjectOptions extends Marked {
  readonly required?: readonly MaybeVersioned<string>[];
  readonly default?: MaybeVersioned<JsonObject>;
  readonly minProperties?: MaybeVersioned<number>;
  /** Server-side apply treats an atomic object as one value. */
  readonly mapType?: 'atomic';
  /** Alternatives in JSON Schema notation, for the few locations where the official schema has them. */
  readonly oneOf?: MaybeVersioned<readonly JsonObject[]>;
}

export interface ObjectNode<F = Fields> extends ObjectOptions {
  readonly type: 'object';
  readonly fields: F;
}

export interface ListOptions extends Marked {
  readonly minItems?: MaybeVersioned<number>;
  readonly maxItems?: MaybeVersioned<number>;
  /** `map`: items are identified by `keys`; `set`: items are distinct scalars. */
  readonly listType?: MaybeVersioned<ListType>;
  readonly keys?: readonly string[];
  readonly default?: MaybeVersioned<readonly JsonValue[]>;
}

export type ListType = 'atomic' | 'set' | 'map';

export interface ListNode<I = Node> extends ListOptions {
  readonly type: 'list';
  readonly items: I;
}

export interface MapOptions extends Marked {
  readonly maxProperties?: MaybeVersioned<number>;
  readonly minProperties?: MaybeVersioned<number>;
}

export interface MapNode<V = Node> extends MapOptions {
  readonly type: 'map';
  readonly values: V;
}

/** A number or a name, e.g. the target port of a Service. */
export interface IntOrStringNode extends Marked {
  readonly type: 'intOrString';
}

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

export function string(options: StringOptions = {}): StringNode {
  return { ...options, type: 'string' };
}

export function integer(options: IntegerOptions = {}): IntegerNode {
  return { ...options, type: 'integer' };
}

export function boolean(options: BooleanOptions = {}): BooleanNode {
  return { ...options, type: 'boolean' };
}

export function object<const F extends Fields>(fields: F, options: ObjectOptions = {}): ObjectNode<F> {
  return { ...options, type: 'object', fields };
}

export function list<I extends Node>(items: I, options: ListOptions = {}): ListNode<I> {
  return { ...options, type: 'list', items };
}

/** An object with arbitrary keys and values of one type. */
export function map<V extends Node>(values: V, options: MapOptions = {}): MapNode<V> {
  return { ...options, type: 'map', values };
}

/** An integer or a string. */
export function intOrString(): IntOrStringNode {
  return { type: 'intOrString' };
}
