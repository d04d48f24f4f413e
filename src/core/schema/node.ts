import type { MaybeVersioned } from './availability.ts';

/**
 * The vocabulary of the tables: plain data that says what a JSON value may look like, bundle by bundle. From the
 * same data come the TypeScript types of views, the tolerant reader, defaults, validators and the walk by meaning.
 */
export type Node = StringNode | IntegerNode | BooleanNode | ObjectNode | ListNode | MapNode | IntOrStringNode;

/** What a value means to rules, wherever it occurs. */
export type Semantic =
  /** GEP-2257. */
  | 'duration'
  /** A DNS name, or one with a wildcard as first label. */
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
  /** The value of a match whose sibling `type` decides whether it is compared or a regular expression. */
  | 'regexOrValue'
  /** What a path or its prefix is replaced by. */
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
  /** For messages: what to write where a pattern or an alternative does not fit, with an example. */
  readonly form?: string;
  /** For messages: the field that stands for this one in bundles that lack it. */
  readonly instead?: MaybeVersioned<string>;
  /** A sentence about the protection that goes with this field where a bundle drops it; only where there is one. */
  readonly lost?: string;
}

export interface StringOptions extends Marked {
  /** Unicode code points. */
  readonly maxLength?: MaybeVersioned<number>;
  readonly minLength?: MaybeVersioned<number>;
  /** RE2 syntax; matches anywhere unless anchored. */
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

/** The properties of an object; one that differs between bundles in kind may have several variants. */
export interface Fields {
  readonly [name: string]: MaybeVersioned<Node>;
}

export interface ObjectOptions extends Marked {
  readonly required?: readonly MaybeVersioned<string>[];
  readonly default?: MaybeVersioned<JsonObject>;
  readonly minProperties?: MaybeVersioned<number>;
  /** Server-side apply treats an atomic object as one value. */
  readonly mapType?: 'atomic';
  /** Alternatives in JSON Schema notation, for the few places where the official schema has them. */
  readonly oneOf?: MaybeVersioned<readonly JsonObject[]>;
}

export interface ObjectNode<F = Fields> extends ObjectOptions {
  readonly type: 'object';
  readonly fields: F;
}

export interface ListOptions extends Marked {
  readonly minItems?: MaybeVersioned<number>;
  readonly maxItems?: MaybeVersioned<number>;
  /** `map`: items are told apart by `keys`; `set`: items are distinct scalars. */
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

/** An object with free keys and values of one form. */
export function map<V extends Node>(values: V, options: MapOptions = {}): MapNode<V> {
  return { ...options, type: 'map', values };
}

/** An integer or a string. */
export function intOrString(): IntOrStringNode {
  return { type: 'intOrString' };
}
