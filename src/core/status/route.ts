import { attachments, type Attachment, type AttachmentOutcome } from '../graph/attachment.ts';
import { installationCell, readObject } from '../graph/inputs.ts';
import { isOwnerKind, type ListenerOwner } from '../graph/listeners/listener-sets.ts';
import { failureOf, type ServedRouteKind } from '../graph/protocols.ts';
import type { Reader } from '../incremental/reader.ts';
import { takenMatches, type TakenMatch } from '../rules/matches/match-places.ts';
import { describeTaken, shadowed, takenCure } from '../rules/matches/match-taken.ts';
import { describeTakenRequests, partlyShadowed, requestsTakenCure } from '../rules/matches/requests-taken.ts';
import { takenRequests, type TakenRequests } from '../rules/matches/taken-requests.ts';
import { partlyServed } from '../rules/parents/hostname-not-permitted.ts';
import { partProblems, routeValidity, type RouteValidity } from '../rules/engine/validity.ts';
import type { PartProblem } from '../rules/engine/part-problem.ts';
import { parentKey, type ParentNode } from '../semantics/parent-reference.ts';
import { ignoredFields } from './ignored-fields.ts';
import { withheldBackends, withheldRoute } from './withheld.ts';
import {
  conditionsAt,
  isFalse,
  isTrue,
  joinMessages,
  resolvedRefs,
  type Condition,
  type Outcome,
} from './conditions.ts';

export interface RouteParentStatus {
  readonly parentRef: ParentNode;
  readonly controllerName: string;
  readonly conditions: readonly Condition[];
}

export interface RouteStatus {
  readonly parents: readonly RouteParentStatus[];
}

/** Outcomes of parents that get no status entry from us. */
const unreportedOutcomes: ReadonlySet<AttachmentOutcome['type']> = new Set(['foreign', 'absent', 'unobserved']);

/**
 * Our entries in the status of a route: one per parentRef to a Gateway that we manage, in the order of the specification.
 * Parents that are not found or served by another controller get none (RouteStatus; GEP-1364).
 */
export function routeStatus(read: Reader, kind: string, namespace: string, name: string): RouteStatus | undefined {
  const route = readObject(read, kind as ServedRouteKind, namespace, name);
  if (route === undefined) return undefined;
  const ours = read
    .query(attachments, kind, namespace, name)
    .filter(({ outcome }) => !unreportedOutcomes.has(outcome.type));
  if (ours.length === 0) return undefined;
  const controllerName = read.input(installationCell)?.controllerName ?? '';
  const problems = read.query(partProblems, kind, namespace, name);
  const validity = read.query(routeValidity, kind, namespace, name);
  const resolved = resolvedRefs(problems);
  const ignored = ignoredFields(problems);
  const taken = read.query(takenMatches, kind, namespace, name);
  const partly = read.query(takenRequests, kind, namespace, name);
  return {
    parents: withoutRepetitions(ours).map((attachment) => {
      const owner = ownerOf(attachment);
      const stated = acceptance(attachment, problems, validity);
      const accepted =
        stated.status === 'True' && owner !== undefined ? (withheldRoute(read, route, owner) ?? stated) : stated;
      const lacking =
        resolved.status === 'True' && owner !== undefined ? withheldBackends(read, route, owner) : undefined;
      const partial = accepted.status === 'True' ? partialValidity(validity.dropped, route.kind) : undefined;
      const lost = shadowing(
        taken.filter(({ parent }) => parent === attachment.index),
        partly.filter(({ parent }) => parent === attachment.index),
      );
      const refused = refusedHostnames(attachment, problems);
      const outcomes = {
        Accepted: accepted,
        ResolvedRefs: lacking ?? resolved,
        ...(partial && { PartiallyInvalid: partial }),
        ...(refused && { [partlyServed.condition]: refused }),
        ...(lost && { [shadowed.condition]: lost }),
        ...ignored,
      };
      return {
        parentRef: attachment.parent,
        controllerName,
        conditions: conditionsAt('route', route.meta.generation, outcomes),
      };
    }),
  };
}

/** The owner of the listeners that a parentRef attaches the route to. */
function ownerOf({ parent: { kind, namespace, name }, outcome }: Attachment): ListenerOwner | undefined {
  return outcome.type === 'attached' && isOwnerKind(kind) ? { kind, namespace, name } : undefined;
}

function acceptance(attachment: Attachment, problems: readonly PartProblem[], validity: RouteValidity): Outcome {
  const ofParent = problems.find(
    (problem) => problem.scope === 'parentRef' && problem.part === attachment.index && problem.condition === 'Accepted',
  );
  if (ofParent !== undefined) return isFalse(ofParent.reason, ofParent.message);
  if (validity.refused !== undefined) return isFalse(validity.refused.reason, validity.refused.message);
  return isTrue('Accepted');
}

/** Present only while the parent serves some hostnames of the route and others are not permitted. */
function refusedHostnames({ index }: Attachment, problems: readonly PartProblem[]): Outcome | undefined {
  const refused = problems.filter(({ condition, part }) => condition === partlyServed.condition && part === index);
  return refused.length === 0
    ? undefined
    : isTrue(partlyServed.reason, joinMessages(refused.map(({ message }) => message)));
}

/** Entries are identified by their parentRef: the first of several equal ones represents all. */
function withoutRepetitions(parents: readonly Attachment[]): readonly Attachment[] {
  const first = new Map<string, Attachment>();
  for (const attachment of parents) {
    const key = parentKey(attachment.parent);
    if (!first.has(key)) first.set(key, attachment);
  }
  return [...first.values()];
}

/** Present only while some parts work and others do not. The message must begin with "Dropped Rule". */
function partialValidity(dropped: readonly PartProblem[], kind: ServedRouteKind): Outcome | undefined {
  const [first] = dropped;
  return first === undefined
    ? undefined
    : isTrue(first.reason, joinMessages(dropped.map((problem) => describeDropped(problem, kind))));
}

function describeDropped({ scope, part, member, message }: PartProblem, kind: ServedRouteKind): string {
  const { traffic, fate } = failureOf[kind];
  const place = `spec.rules[${part}]`;
  if (scope === 'match' && member === -1) return `Dropped Rule ${part} (${place} matches no request): ${message}`;
  if (scope === 'match')
    return `Dropped Rule ${part} in part (${place}.matches[${member}] matches no request): ${message}`;
  if (scope === 'backendRef')
    return `Dropped Rule ${part} in part (${place}.backendRefs[${member}], its share of ${traffic} is ${fate}): ${message}`;
  return `Dropped Rule ${part} (${place}, its ${traffic} are ${fate}): ${message}`;
}

/**
 * Present only while a match is shadowed: other matches get all of its requests, or some of them if they are in another
 * namespace ("make it clear which path has been chosen", API design guide).
 */
function shadowing(taken: readonly TakenMatch[], partly: readonly TakenRequests[]): Outcome | undefined {
  const [first] = taken;
  const whole = first && `${joinMessages(taken.map(describeTaken))} ${takenCure(first.own.kind)}`;
  const parts = partly.length === 0 ? '' : `${joinMessages(partly.map(describeTakenRequests))} ${requestsTakenCure}`;
  if (whole !== undefined) return isTrue(shadowed.reason, [whole, parts].filter((text) => text !== '').join(' '));
  return parts === '' ? undefined : isTrue(partlyShadowed.reason, parts);
}
