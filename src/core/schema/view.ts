import type { Versioned } from './availability.ts';
import type { BooleanNode, IntegerNode, IntOrStringNode, ListNode, MapNode, ObjectNode, StringNode } from './node.ts';

/**
 * The type of a value described by the table node `N`, as seen by a reader: deep readonly, with every property optional and
 * every enum an open string, since stored objects may violate every schema. It is the union over all bundles and channels.
 */
export type View<N> =
  N extends Versioned<infer M>
    ? View<M>
    : N extends StringNode
      ? string
      : N extends IntegerNode
        ? number
        : N extends BooleanNode
          ? boolean
          : N extends ObjectNode<infer F>
            ? { readonly [K in keyof F]?: View<F[K]> }
            : N extends ListNode<infer I>
              ? readonly View<I>[]
              : N extends MapNode<infer V>
                ? { readonly [key: string]: View<V> }
                : N extends IntOrStringNode
                  ? number | string
                  : unknown;

/** The type of the value at a path of a view, where `[]` stands for an item of a list: `spec.rules[].filters`. `never` if there is none. */
export type At<V, P extends string> = P extends ''
  ? V
  : P extends `${infer First}.${infer Rest}`
    ? At<Step<V, First>, Rest>
    : Step<V, P>;

type Step<V, S extends string> = S extends `${infer Name}[]`
  ? Item<Step<V, Name>>
  : V extends unknown
    ? S extends keyof V
      ? NonNullable<V[S]>
      : never
    : never;

type Item<V> = V extends readonly (infer I)[] ? NonNullable<I> : never;
