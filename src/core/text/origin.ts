const form = /^(https?):\/\/(\*|(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*)(?::([0-9]{1,5}))?$/;
const defaultPorts: Readonly<Record<string, string>> = { http: '80', https: '443' };

/**
 * The one spelling of an origin that a CORS filter allows: in lower case, without the port that its scheme implies,
 * as browsers send it. `*` stands for all; the host may be `*` or begin with `*.`. `undefined` for a text that is
 * no such origin (Gateway API HTTPCORSFilter.allowOrigins).
 */
export function canonicalOrigin(text: string): string | undefined {
  if (text === '*') return text;
  const [, scheme, host, port] = form.exec(text.toLowerCase()) ?? [];
  if (scheme === undefined || host === undefined) return undefined;
  return port === undefined || port === defaultPorts[scheme] ? `${scheme}://${host}` : `${scheme}://${host}:${port}`;
}
