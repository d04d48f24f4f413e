/** What the API server asks: one write, before it is stored. Shapes follow `admission.k8s.io/v1`. */
export interface AdmissionRequest {
  /** Echoed in the answer; means nothing else. */
  readonly uid: string;
  readonly operation: Operation;
  /** Group, version and kind of `object`, converted to what the webhook configuration registered. `''`: core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Plural and lower case, e.g. `httproutes`. */
  readonly resource: string;
  /** `''` for the object itself, e.g. `status` for its status. */
  readonly subResource: string;
  /** What the client wrote before conversion. */
  readonly requestKind: GroupVersionKind;
  /** May be `''` on CREATE with generateName. */
  readonly name: string;
  /** `''` for cluster-scoped kinds. */
  readonly namespace: string;
  /** Any JSON value; absent on DELETE. */
  readonly object?: unknown;
  /** Any JSON value; absent on CREATE and CONNECT. */
  readonly oldObject?: unknown;
  /** Why `object` was not read although there is one. A complete sentence. */
  readonly unread?: string;
  /** Nothing of a dry run may have an effect. */
  readonly dryRun: boolean;
  readonly userInfo: { readonly username: string; readonly groups: readonly string[] };
  /** Milliseconds left for the decision; when they are used up, what was found so far is the answer. */
  readonly budgetMs: number;
}

export const operations = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const;
export type Operation = (typeof operations)[number];

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** The answer. Nothing in it needs to respect the API server's limits: the webhook cuts and cleans. */
export type AdmissionVerdict = Allowed | Denied;

export interface Allowed extends Remarks {
  readonly allowed: true;
}

export interface Denied extends Remarks {
  readonly allowed: false;
  /** kubectl prints these as a list, and then nothing else. */
  readonly causes: readonly [AdmissionCause, ...AdmissionCause[]];
  /** Complete alone, for clients that print nothing else. */
  readonly message: string;
}

interface Remarks {
  /** Each a single sentence, rule id and field path first, so that the beginning suffices; the most important first. */
  readonly warnings: readonly string[];
  /** Every finding with what was done about it, for counting. */
  readonly findings: readonly CountedFinding[];
  /** The keys are plain names; the API server puts the webhook's name before them. */
  readonly auditAnnotations: Readonly<Record<string, string>>;
}

export interface CountedFinding {
  readonly rule: string;
  /** `tolerate`: it would deny, but was there before. `would-deny`: it would, did not the profile `audit` only record. */
  readonly mode: 'deny' | 'warn' | 'record' | 'tolerate' | 'would-deny';
}

/** One thing that is wrong; `reason` is one of the CauseTypes of `meta/v1`. */
export interface AdmissionCause {
  /** E.g. `spec.rules[0].timeouts.request`. */
  readonly field: string;
  readonly message: string;
  readonly reason: CauseReason;
}

export type CauseReason =
  | 'FieldValueNotFound'
  | 'FieldValueRequired'
  | 'FieldValueDuplicate'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid';
