import type { ListenerOwner } from '../../graph/listeners/listener-sets.ts';
import { listenersOf, type ListenerNode } from '../../graph/listeners/listeners.ts';
import type { Reader } from '../../incremental/reader.ts';
import type { Path } from '../../resources/path.ts';
import { warned, type Effects } from '../engine/effects.ts';
import { rule, type Consequence, type Finding } from '../engine/rule.ts';

/** `below` is the path within the listener. */
export type ListenerFinding = Omit<Finding, 'rule' | 'path'> & { readonly below?: Path };

/** Declares a rule about single listeners of a Gateway or ListenerSet. */
export function listenerRule(declaration: {
  readonly id: string;
  readonly summary: string;
  readonly about?: 'dialect';
  /** Default: warns. */
  readonly effect?: Effects;
  readonly consequence: Consequence;
  readonly varies?: readonly (keyof Consequence)[];
  readonly source: string;
  readonly judge: (listener: ListenerNode, owner: ListenerOwner, read: Reader) => Iterable<ListenerFinding>;
}) {
  const { judge, ...frame } = declaration;
  return rule({
    effect: warned,
    ...frame,
    kinds: ['Gateway', 'ListenerSet'],
    check({ kind, ref: { namespace, name } }, read, report) {
      const owner: ListenerOwner = { kind, namespace, name };
      for (const listener of listenersOf(read, owner)) {
        for (const { below = [], ...found } of judge(listener, owner, read))
          report({ path: ['spec', 'listeners', listener.index, ...below], ...found });
      }
    },
  });
}
