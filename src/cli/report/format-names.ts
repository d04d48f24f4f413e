/** By themselves, so that the command line can name them without loading them. */
export const formatNames = ['text', 'json', 'sarif', 'junit', 'github'] as const;
export type FormatName = (typeof formatNames)[number];
