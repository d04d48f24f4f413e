/**
 * The order of evaluation. A computation reads only indexes of lower strata, and computations of its own or a lower stratum.
 * This rules out cycles. The kernel enforces it.
 */
export const strata = {
  /** Reverse relations of references in the objects themselves. */
  objectIndexes: 1,
  /** Links: parents, listeners, grants, backends, attachments. */
  links: 2,
  /** Reverse relations over links: routes of a listener, users of a Service. */
  linkIndexes: 3,
  /** The limits that links of many objects exceed together. */
  limitIndexes: 4,
  /** Findings about one object and its links, and the parts of it that work. */
  validity: 5,
  /** Reverse relations of the working parts that may conflict: the matches of a listener. */
  rivalIndexes: 6,
  /** All findings about one object, including those that depend on conflicting objects. */
  findings: 7,
  /** Reverse relations of findings that no finding depends on. */
  findingIndexes: 8,
  /** Conditions, configuration. */
  emissions: 9,
} as const;
