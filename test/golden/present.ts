import { formatPath } from '../../src/core/resources/path.ts';
import { describeRef } from '../../src/core/resources/reference.ts';
import { configuration } from '../../src/core/routing/emit.ts';
import type { Condition } from '../../src/core/status/conditions.ts';
import { statuses, type OwnStatus } from '../../src/core/status/emit.ts';
import type { GatewayStatus } from '../../src/core/status/gateway.ts';
import type { ListenerSetStatus } from '../../src/core/status/listener-set.ts';
import type { PolicyStatus } from '../../src/core/status/policy.ts';
import type { RouteStatus } from '../../src/core/status/route.ts';
import type { World } from '../support/evaluation.ts';

// What an evaluation says, arranged for people who review it as a diff.

/** Verdicts by object, status by object, configuration by key; in the order of the input, keys sorted. */
export function present(world: World): unknown {
  const status = world.kernel.emitted(statuses);
  const objects = world.candidates.map((candidate) => [
    describeRef(candidate.resource.ref),
    presentVerdict(world, candidate),
  ]);
  const conditions = world.candidates.flatMap(({ resource: { ref } }) => {
    const own = status.get(`${ref.kind}/${ref.namespace}/${ref.name}`);
    return own === undefined ? [] : [[describeRef(ref), presentStatus(own)]];
  });
  const resources = [...world.kernel.emitted(configuration)].sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    verdicts: Object.fromEntries(objects),
    status: Object.fromEntries(conditions),
    configuration: Object.fromEntries(resources.map(([key, { key: _key, ...resource }]) => [key, resource])),
  };
}

function presentVerdict(world: World, candidate: World['candidates'][number]): unknown {
  const found = world.judge(candidate);
  const verdict = found.some((finding) => finding.effect === 'deny') ? 'denied' : 'allowed';
  if (found.length === 0) return verdict;
  return {
    verdict,
    findings: found.map(({ effect, rule, path, message }) => ({
      [`${effect} ${rule}`]: `${formatPath(path)}: ${message}`,
    })),
  };
}

function presentStatus(status: OwnStatus): unknown {
  if ('parents' in status) return presentRoute(status);
  if ('ancestors' in status) return presentPolicy(status);
  return 'listeners' in status ? presentListeners(status) : presentConditions(status.conditions);
}

function presentRoute({ parents }: RouteStatus): unknown {
  return parents.map(({ parentRef: { kind, namespace, name, sectionName, port }, controllerName, conditions }) => {
    const section = `${sectionName === undefined ? '' : `#${sectionName}`}${port === undefined ? '' : `:${port}`}`;
    return { parentRef: `${kind} ${namespace}/${name}${section}`, controllerName, ...presentConditions(conditions) };
  });
}

function presentPolicy({ ancestors }: PolicyStatus): unknown {
  return ancestors.map(({ ancestorRef: { kind, namespace, name }, controllerName, conditions }) => ({
    ancestorRef: `${kind} ${namespace}/${name}`,
    controllerName,
    ...presentConditions(conditions),
  }));
}

function presentListeners({ conditions, listeners, ...rest }: GatewayStatus | ListenerSetStatus): unknown {
  const { addresses = [], attachedListenerSets = 0 }: Partial<GatewayStatus> = rest;
  return {
    ...presentConditions(conditions),
    ...(addresses.length === 0
      ? {}
      : {
          addresses: addresses.map(({ value, routability }) =>
            routability === undefined ? value : `${value} (routability "${routability}")`,
          ),
        }),
    ...(attachedListenerSets === 0 ? {} : { attachedListenerSets }),
    listeners: listeners.map(({ name, attachedRoutes, supportedKinds, conditions: own }) => ({
      name,
      attachedRoutes,
      supportedKinds: supportedKinds.map(({ kind }) => kind),
      ...presentConditions(own),
    })),
  };
}

/** `Accepted: True Accepted`, with the message where there is one; the generation once, since all agree. */
function presentConditions(conditions: readonly Condition[]): Readonly<Record<string, unknown>> {
  const generations = new Set(conditions.map((condition) => condition.observedGeneration));
  const lines = conditions.map(({ type, status, reason, message }) => [
    type,
    `${status} ${reason}${message === '' ? '' : `: ${message}`}`,
  ]);
  return { observedGeneration: [...generations].join(' and '), ...Object.fromEntries(lines) };
}
