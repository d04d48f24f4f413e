/** In a separate file, so that the command line can list the formats without loading them. */
export const formatNames = ['text', 'json', 'sarif', 'junit', 'github'] as const;
export type FormatName = (typeof formatNames)[number];
