import { type Attachment, type AttachmentOutcome, attachments } from '../../graph/attachment.ts';
import { type ServedRouteKind, servedRouteKinds } from '../../graph/protocols.ts';
import type { Reader } from '../../incremental/reader.ts';
import type { Resource } from '../../resources/resource.ts';
import { warned } from '../engine/effects.ts';
import { type Finding, rule } from '../engine/rule.ts';

// Another object that is applied later may fix each of these. Admission therefore only warns, and status reports the problem.

type OutcomeOf<T extends AttachmentOutcome['type']> = Extract<AttachmentOutcome, { type: T }>;

/** Declares a rule for one outcome of a parentRef that does not attach. */
export function attachmentRule<const T extends AttachmentOutcome['type']>(declaration: {
  readonly id: string;
  readonly outcome: T;
  readonly summary: string;
  readonly reason?: string;
  readonly source: string;
  readonly describe: (
    attachment: Attachment,
    outcome: OutcomeOf<T>,
    route: Resource<ServedRouteKind>,
  ) => Pick<Finding, 'message' | 'value'>;
}) {
  const { id, outcome: type, summary, reason, source, describe } = declaration;
  return rule({
    id,
    kinds: servedRouteKinds,
    summary,
    effect: warned,
    ...(reason === undefined ? {} : { consequence: { condition: 'Accepted', reason, scope: 'parentRef' as const } }),
    source,
    check(route, read: Reader, report) {
      for (const attachment of read.query(attachments, route.kind, route.ref.namespace, route.ref.name)) {
        if (attachment.outcome.type !== type) continue;
        report({
          path: ['spec', 'parentRefs', attachment.index],
          ...describe(attachment, attachment.outcome as OutcomeOf<T>, route),
        });
      }
    },
  });
}
