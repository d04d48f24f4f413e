/**
 * The order of evaluation. A computation reads only indexes of lower strata, and computations of its own or a lower stratum.
 * This rules out cycles. The kernel enforces it.
 */
export const strata = {
  /** Reverse relations over what stands in the objects themselves. */
  objectIndexes: 1,
  /** Links: parents, listeners, grants, backends, attachments. */
  links: 2,
  /** Reverse relations over links: routes of a listener, users of a Service. */
  linkIndexes: 3,
  /** Judgements about one object and its links, and what of it works by them. */
  validity: 4,
  /** Reverse relations over what works and may be in each other's way: the matches of a listener. */
  rivalIndexes: 5,
  /** All judgements about one object, those included that depend on its rivals. */
  findings: 6,
  /** Reverse relations over judgements that nobody judges by. */
  findingIndexes: 7,
  /** Conditions, configuration. */
  emissions: 8,
} as const;
