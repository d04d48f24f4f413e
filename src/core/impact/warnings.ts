import {
  breaksSentence,
  changeOf,
  impactOf,
  impactWarnings,
  overlayWith,
  readComparing,
  type NamedObject,
} from '../admission/impact.ts';
import type { Kernel, Overlay, Reader, Write } from '../incremental/index.ts';
import type { Steps } from '../text/steps.ts';
import { deletionSentence, gatewayElsewhere, lossSentence, type States } from './loss.ts';
import { keyOfRef } from '../resources/reference.ts';

/** A change of an object that objects of the Gateway API refer to. */
export interface SurroundingChange {
  readonly operation: 'UPDATE' | 'DELETE';
  readonly ref: NamedObject;
  /** The object before the change, as the evaluation reads it. A cache may lag behind the object in the request. */
  readonly before: readonly Write[];
  readonly after: readonly Write[];
  /** The objects that are deleted together with a Namespace. */
  readonly contents: readonly NamedObject[];
}

export interface WarningContext {
  readonly kernel: Pick<Kernel, 'overlay'>;
  /** Called between steps. Returns false when the time budget of the request is used up. */
  readonly mayContinue: () => boolean;
}

/**
 * Returns warnings about the objects of the Gateway API that a change breaks, with the requests that it affects: at most one for
 * each of the first few objects, and one for all others. Nothing is written. The kernel may apply writes between steps.
 */
export function* warningsAbout(
  { operation, ref, before, after, contents }: SurroundingChange,
  { kernel, mayContinue }: WarningContext,
): Steps<readonly string[]> {
  const [former, present] = [overlayWith(kernel, before), overlayWith(kernel, after)];
  const states: States = { before: () => former().read, after: () => present().read };
  const self = keyOfRef(ref);
  const impact = yield* impactOf(() => readerOf(former), present(), { self, mayContinue });
  const subject = changeOf(operation, ref);
  const sentences: string[] = [];
  for (const broken of impact.broken) {
    yield;
    const loss = mayContinue() ? yield* lossSentence(subject, broken, states) : undefined;
    sentences.push(loss ?? breaksSentence(subject, broken));
  }
  const warnings = impactWarnings(subject, impact, sentences);
  return [...warnings, ...(yield* deletedRoutes(subject, contents, { ...states, mayContinue }))];
}

function* readerOf(overlay: () => Overlay): Steps<Reader> {
  yield;
  return yield* readComparing(overlay());
}

interface Comparison extends States {
  readonly mayContinue: () => boolean;
}

/** The maximum number of deleted routes with a warning each. */
const maxRoutes = 3;

/** Returns warnings about deleted routes that Gateways of other namespaces serve. The owners of these Gateways may need them. */
function* deletedRoutes(
  subject: string,
  contents: readonly NamedObject[],
  { mayContinue, ...states }: Comparison,
): Steps<readonly string[]> {
  const sentences: string[] = [];
  let more = 0;
  let atLeast = '';
  for (const object of contents) {
    yield;
    if (!mayContinue()) {
      atLeast = 'at least ';
      break;
    }
    if (sentences.length === maxRoutes) {
      if (gatewayElsewhere(states.before(), object) !== undefined) more += 1;
      continue;
    }
    const sentence = yield* deletionSentence(subject, object, states);
    if (sentence !== undefined) sentences.push(`[impact] ${sentence}`);
  }
  const rest = `[impact] ${subject} deletes ${atLeast}${more} more route${more === 1 ? '' : 's'} of Gateways in other namespaces.`;
  return more === 0 ? sentences : [...sentences, rest];
}
