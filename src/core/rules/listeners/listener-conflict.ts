import { type ListenerConflict, listenerConflicts } from '../../graph/gateway-listeners.ts';
import type { ListenerOwner } from '../../graph/listener-sets.ts';
import type { ListenerNode } from '../../graph/listeners.ts';
import { display } from '../../text/display.ts';
import { listenerRule } from './listener-rule.ts';
import { nameOthers } from './listener-validity.ts';

export const listenerConflict = listenerRule({
  id: 'listener-conflict',
  summary: 'Listeners of a Gateway and its ListenerSets cannot be told apart, so not all of them are served.',
  consequence: { condition: 'Conflicted', reason: 'ProtocolConflict', scope: 'listener' },
  source: 'Gateway API v1.7.0, Gateway.spec.listeners ("Handling indistinct Listeners": "MUST NOT pick one conflicting Listener as the winner"), ListenerSet.spec.listeners (precedence)',
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

function describeConflict({ reason, standing, others }: ListenerConflict, { port }: ListenerNode, owner: ListenerOwner): string {
  const shared = reason === 'ProtocolConflict' ? 'different protocols' : 'the same hostname';
  const verdict = standing === 'tied' ? 'none may win, so none is served' : 'the Gateway comes first and then the oldest ListenerSet, so this one is not served';
  const cure = `Give each a port${reason === 'HostnameConflict' ? ' or hostname' : ''} of its own.`;
  return `This listener conflicts with ${nameOthers(others, owner)}: they ask for port ${port} with ${shared}, and ${verdict}. ${cure}`;
}
