import { acknowledgementCell, dataPlaneCell, readObject } from '../graph/inputs.ts';
import { listenerSetParent, type ListenerOwner, type ListenerSetParent } from '../graph/listeners/listener-sets.ts';
import { strata } from '../graph/strata.ts';
import { defineQuery } from '../incremental/index.ts';
import type { Reader } from '../incremental/reader.ts';
import { quoteRef } from '../resources/reference.ts';
import { ownerRefusal, partProblems } from '../rules/engine/validity.ts';
import { conditionsAt, isFalse, type Condition, type Outcome } from './conditions.ts';
import { isGatewayAccepted } from './judged-gateway.ts';
import {
  canServe,
  judgeListeners,
  listenerStatuses,
  notAccepted,
  serviceOf,
  summariseListeners,
  summariseService,
  type JudgedListener,
  type ListenerStatus,
  type Refusal,
} from './listeners.ts';

export interface ListenerSetStatus {
  readonly conditions: readonly Condition[];
  readonly listeners: readonly ListenerStatus[];
}

/**
 * The status of a ListenerSet whose parent is a Gateway that we manage, `undefined` for all others (ListenerSetStatus;
 * GEP-1713).
 */
export function listenerSetStatus(read: Reader, namespace: string, name: string): ListenerSetStatus | undefined {
  const set = readObject(read, 'ListenerSet', namespace, name);
  const parent = read.query(listenerSetParent, namespace, name);
  if (set === undefined || parent === undefined || parent.type === 'foreign' || parent.type === 'absent')
    return undefined;
  const owner: ListenerOwner = { kind: 'ListenerSet', namespace, name };
  const { generation } = set.meta;
  const refusal = refusalOf(read, owner, parent);
  const service = serviceOf(
    generation,
    read.input(acknowledgementCell, 'ListenerSet', namespace, name),
    read.input(dataPlaneCell, parent.namespace, parent.name),
  );
  const listeners = judgeListeners(read, owner, { refusal, service });
  const accepted =
    refusal === undefined ? summariseListeners(listeners, problemOf) : isFalse(refusal.reason, refusal.message);
  return {
    conditions: conditionsAt('listenerSet', generation, {
      Accepted: accepted,
      Programmed:
        accepted.status === 'False'
          ? isFalse(programmedReason(accepted), notAccepted)
          : summariseService(listeners, service),
    }),
    listeners: listenerStatuses(read, owner, { generation, listeners }),
  };
}

/** Whether a ListenerSet counts as attached (Gateway.status.attachedListenerSets). */
export const isListenerSetAccepted = defineQuery({
  name: 'isListenerSetAccepted',
  stratum: strata.emissions,
  compute: (read, namespace: string, name: string): boolean =>
    listenerSetStatus(read, namespace, name)?.conditions.some(
      ({ type, status }) => type === 'Accepted' && status === 'True',
    ) === true,
});

function refusalOf(read: Reader, { namespace, name }: ListenerOwner, parent: ListenerSetParent): Refusal | undefined {
  const own = ownerRefusal(read.query(partProblems, 'ListenerSet', namespace, name));
  if (own !== undefined) return own;
  if (read.query(isGatewayAccepted, parent.namespace, parent.name)) return undefined;
  return {
    reason: parentNotAccepted,
    message: `${quoteRef({ kind: 'Gateway', ...parent })} is not accepted; see its conditions.`,
  };
}

const parentNotAccepted = 'ParentNotAccepted';

/** The reason of Accepted, unless Programmed has its own reason. */
function programmedReason({ reason }: Outcome): string {
  return reason === parentNotAccepted ? 'ParentNotProgrammed' : reason;
}

/**
 * A ListenerSet whose listeners all lack a certificate adds nothing to its Gateway, so a missing certificate counts as a
 * problem.
 */
function problemOf({ node, outcomes }: JudgedListener): Outcome | undefined {
  if (outcomes.Accepted.status === 'False') return outcomes.Accepted;
  return canServe(node) ? undefined : outcomes.ResolvedRefs;
}
