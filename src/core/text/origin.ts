const form = /^(https?):\/\/(\*|(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*)(?::([0-9]{1,5}))?$/;

/** The ports that URLs omit (RFC 9110 section 4.2). */
export const defaultPorts = { http: 80, https: 443 } as const;

/** Returns the default port of a scheme in lower case; `undefined` for other schemes than http and https. */
export function defaultPortOf(scheme: string): number | undefined {
  return scheme === 'http' || scheme === 'https' ? defaultPorts[scheme] : undefined;
}

/**
 * Normalizes an origin that a CORS filter allows: lower case and without the default port of its scheme, as sent by
 * browsers. `*` stands for all origins; the host may be `*` or start with `*.`. `undefined` if the text is not a valid
 * origin (Gateway API HTTPCORSFilter.allowOrigins).
 */
export function canonicalOrigin(text: string): string | undefined {
  if (text === '*') return text;
  const [, scheme, host, port] = form.exec(text.toLowerCase()) ?? [];
  if (scheme === undefined || host === undefined) return undefined;
  return port === undefined || port === String(defaultPortOf(scheme))
    ? `${scheme}://${host}`
    : `${scheme}://${host}:${port}`;
}
