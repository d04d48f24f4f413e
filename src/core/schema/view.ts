import type { Versioned } from './availability.ts';
import type { BooleanNode, IntegerNode, IntOrStringNode, ListNode, MapNode, ObjectNode, StringNode } from './node.ts';

/**
 * What a reader sees of a value that the table node `N` describes: deep readonly, every property optional and every
 * enum an open string, since stored objects need not follow any schema. The union over all bundles and channels.
 */
export type View<N> = N extends Versioned<infer M> ? View<M>
  : N extends StringNode ? string
  : N extends IntegerNode ? number
  : N extends BooleanNode ? boolean
  : N extends ObjectNode<infer F> ? { readonly [K in keyof F]?: View<F[K]> }
  : N extends ListNode<infer I> ? readonly View<I>[]
  : N extends MapNode<infer V> ? { readonly [key: string]: View<V> }
  : N extends IntOrStringNode ? number | string
  : unknown;
