import type { HeaderEdits } from '../../../core/routing/decision/header-edits.ts';

/** The result of a permitted request. */
export interface Permission {
  /** The authorization server's changes to the request. They apply after `editsBefore` edits of the rule. */
  readonly edits: HeaderEdits;
  readonly editsBefore: number;
  /** The authorization server's changes to the response. */
  readonly responseEdits: HeaderEdits | undefined;
  /** The complete request body, if the server got it; otherwise the body is still unread. */
  readonly body: readonly Buffer[] | undefined;
}
