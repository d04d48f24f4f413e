import { type ListenerConflict, listenerConflicts } from '../../graph/listeners/gateway-listeners.ts';
import type { ListenerOwner } from '../../graph/listeners/listener-sets.ts';
import type { ListenerNode } from '../../graph/listeners/listeners.ts';
import { display } from '../../text/display.ts';
import { listenerRule } from './listener-rule.ts';
import { nameOthers } from './listener-validity.ts';

export const listenerConflict = listenerRule({
  id: 'listener-conflict',
  summary: 'Listeners of a Gateway and its ListenerSets conflict with each other.',
  consequence: { condition: 'Conflicted', reason: 'ProtocolConflict', scope: 'listener' },
  varies: ['reason'],
  source:
    'Gateway API v1.7.0, Gateway.spec.listeners ("Handling indistinct Listeners": "MUST NOT pick one conflicting Listener as the winner"), ListenerSet.spec.listeners (precedence)',
  *judge(listener, owner, read) {
    const conflicts = read.query(listenerConflicts, owner.kind, owner.namespace, owner.name);
    const conflict = Object.hasOwn(conflicts, listener.name) ? conflicts[listener.name] : undefined;
    if (conflict === undefined) return;
    const { reason } = conflict;
    yield {
      value: display(listener.name),
      consequence: { condition: 'Conflicted', reason, scope: 'listener' },
      message: describeConflict(conflict, listener, owner),
    };
  },
});

function describeConflict(
  { reason, standing, others }: ListenerConflict,
  { port }: ListenerNode,
  owner: ListenerOwner,
): string {
  const shared = reason === 'ProtocolConflict' ? 'different protocols' : 'the same hostname';
  const verdict =
    standing === 'tied'
      ? 'none of them is served'
      : 'this one is not served because the Gateway and older ListenerSets take precedence';
  const cure = `Use distinct ports${reason === 'HostnameConflict' ? ' or hostnames' : ''}.`;
  return `Listener conflicts with ${nameOthers(others, owner)}: they use port ${port} with ${shared}, and ${verdict}. ${cure}`;
}
