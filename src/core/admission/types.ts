/** A request of the API server: one write, before it is stored. Shapes follow `admission.k8s.io/v1`. */
export interface AdmissionRequest {
  /** Repeated in the response, without further meaning. */
  readonly uid: string;
  readonly operation: Operation;
  /** Group, version and kind of `object`, after conversion to the registered version of the webhook configuration. `''`: core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Plural and lower case, e.g. `httproutes`. */
  readonly resource: string;
  /** `''` for the object itself, e.g. `status` for its status. */
  readonly subResource: string;
  /** The group, version and kind that the client wrote, before conversion. */
  readonly requestKind: GroupVersionKind;
  /** May be `''` on CREATE with generateName. */
  readonly name: string;
  /** `''` for cluster-scoped kinds. */
  readonly namespace: string;
  /** Any JSON value; absent on DELETE. */
  readonly object?: unknown;
  /** Any JSON value; absent on CREATE and CONNECT. */
  readonly oldObject?: unknown;
  /** The reason why `object` was not read although it is set. A complete sentence. */
  readonly unread?: string;
  /** A dry run must have no side effects. */
  readonly dryRun: boolean;
  readonly userInfo: { readonly username: string; readonly groups: readonly string[] };
  /** Milliseconds left for the decision. When they are used up, the response contains the findings so far. */
  readonly budgetMs: number;
}

export const operations = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const;
export type Operation = (typeof operations)[number];

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** The response. It can exceed the API server's limits: the webhook shortens and cleans it. */
export type AdmissionVerdict = Allowed | Denied;

export interface Allowed extends Remarks {
  readonly allowed: true;
}

export interface Denied extends Remarks {
  readonly allowed: false;
  /** kubectl prints these as a list, and then prints nothing else. */
  readonly causes: readonly [AdmissionCause, ...AdmissionCause[]];
  /** Complete on its own, for clients that print only the message. */
  readonly message: string;
}

interface Remarks {
  /** Each is a single sentence that starts with rule id and field path, so that it can be truncated. The most important come first. */
  readonly warnings: readonly string[];
  /** Every finding with the action taken, for metrics. */
  readonly findings: readonly CountedFinding[];
  /** The keys are plain names. The API server prefixes them with the name of the webhook. */
  readonly auditAnnotations: Readonly<Record<string, string>>;
}

export interface CountedFinding {
  readonly rule: string;
  /**
   * `tolerate`: would deny, but the old object already had it. `would-deny`: would deny, but the profile `audit` only records.
   * `exempt`: would deny, but an annotation exempts the object.
   */
  readonly mode: 'deny' | 'warn' | 'record' | 'tolerate' | 'would-deny' | 'exempt';
}

/** One problem. `reason` is one of the CauseTypes of `meta/v1`. */
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
