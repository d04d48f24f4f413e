const form = /^(https?):\/\/(\*|(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*)(?::([0-9]{1,5}))?$/;
const defaultPorts: Readonly<Record<string, string>> = { http: '80', https: '443' };

/**
 * Normalizes an origin that a CORS filter allows: lower case and without the default port of its scheme, as sent by
 * browsers. `*` stands for all origins; the host may be `*` or start with `*.`. `undefined` if the text is not a valid
 * origin (Gateway API HTTPCORSFilter.allowOrigins).
 */
export function canonicalOrigin(text: string): string | undefined {
  if (text === '*') return text;
  const [, scheme, host, port] = form.exec(text.toLowerCase()) ?? [];
  if (scheme === undefined || host === undefined) return undefined;
  return port === undefined || port === defaultPorts[scheme] ? `${scheme}://${host}` : `${scheme}://${host}:${port}`;
}
