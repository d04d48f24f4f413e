/**
 * Maximum characters of a response, and of a line of a watch. One object always fits: etcd stores at most 1.5 MiB per object, and escapes
 * make it longer in JSON.
 */
export const longestResponse = 16 * 1024 * 1024;

/** Maximum characters of all responses and lines that are incomplete: a process follows dozens of kinds at the same time. */
export const longestResponses = 4 * longestResponse;
