import type { HeaderEdits } from '../../core/routing/decision/header-edits.ts';

/** A request that has been permitted. */
export interface Permission {
  /** What the authorization server changes in it, behind so many edits of the rule. */
  readonly edits: HeaderEdits;
  readonly editsBefore: number;
  /** What it changes in the response. */
  readonly responseEdits: HeaderEdits | undefined;
  /** Its whole body, where the server was to see it; otherwise nothing of it has been read. */
  readonly body: readonly Buffer[] | undefined;
}
