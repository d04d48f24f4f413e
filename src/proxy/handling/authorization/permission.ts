import type { HeaderEdits } from '../../../core/routing/decision/header-edits.ts';

/** The result of a permitted request. */
export interface Permission {
  /** The authorization server's changes to the request. */
  readonly edits: HeaderEdits;
  /** The authorization server's changes to the response. */
  readonly responseEdits: HeaderEdits | undefined;
  /** The complete request body, if a server got it; otherwise the body is still unread. */
  readonly body: readonly Buffer[] | undefined;
}

/** The results of all permissions of a request. */
export interface Permitted {
  /** The changes by the authorization server of the rule. They apply after `before` edits of the rule. */
  readonly change: { readonly edits: HeaderEdits; readonly before: number } | undefined;
  /** The changes to the response, in the order of the permissions. */
  readonly responseEdits: readonly HeaderEdits[];
  /** As in `Permission`. */
  readonly body: readonly Buffer[] | undefined;
}

/** Without any permission. */
export const unasked: Permitted = { change: undefined, responseEdits: [], body: undefined };

/** Adds a permission to earlier ones. */
export function permittedBy({ responseEdits, body }: Permission, earlier: Permitted): Permitted {
  return {
    ...earlier,
    responseEdits: responseEdits === undefined ? earlier.responseEdits : [...earlier.responseEdits, responseEdits],
    body: body ?? earlier.body,
  };
}
