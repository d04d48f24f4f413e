/**
 * The order of evaluation. A computation reads indexes of lower strata only and computations of its own or a lower
 * one, which rules out cycles; the kernel enforces it.
 */
export const strata = {
  /** Reverse relations over what stands in the objects themselves. */
  objectIndexes: 1,
  /** Links: parents, listeners, grants, backends, attachments. */
  links: 2,
  /** Reverse relations over links: routes of a listener, users of a Service. */
  linkIndexes: 3,
  /** Judgements about one object. */
  findings: 4,
  /** Reverse relations over judgements. */
  findingIndexes: 5,
  /** Conditions, configuration. */
  emissions: 6,
} as const;
