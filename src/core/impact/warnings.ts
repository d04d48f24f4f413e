import {
  breaksSentence,
  changeOf,
  impactOf,
  impactWarnings,
  overlayWith,
  type NamedObject,
} from '../admission/impact.ts';
import type { Kernel, Reader, Write } from '../incremental/index.ts';
import type { Steps } from '../text/steps.ts';
import { lossSentence } from './loss.ts';

/** A change of an object that objects of the Gateway API refer to. */
export interface SurroundingChange {
  readonly operation: 'UPDATE' | 'DELETE';
  readonly ref: NamedObject;
  /** The object before the change, as the evaluation reads it. A cache may lag behind the object in the request. */
  readonly before: readonly Write[];
  readonly after: readonly Write[];
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
  { operation, ref, before, after }: SurroundingChange,
  { kernel, mayContinue }: WarningContext,
): Steps<readonly string[]> {
  const [former, present] = [overlayWith(kernel, before), overlayWith(kernel, after)];
  const formerly = function* read(): Steps<Reader> {
    yield;
    return former().read;
  };
  const self = `${ref.kind}/${ref.namespace}/${ref.name}`;
  const impact = yield* impactOf(formerly, present(), { self, mayContinue });
  const subject = changeOf(operation, ref);
  const sentences: string[] = [];
  for (const broken of impact.broken) {
    yield;
    const loss = mayContinue() ? lossSentence(subject, broken, former().read, present().read) : undefined;
    sentences.push(loss ?? breaksSentence(subject, broken));
  }
  return impactWarnings(subject, impact, sentences);
}
