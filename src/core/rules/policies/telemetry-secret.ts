import { display, quote } from '../../text/display.ts';
import { headerKey } from '../../text/header.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Tracing } from './telemetry.ts';

const secretHeaders: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
]);

export const telemetrySecret = unenforcedRule(
  {
    id: 'telemetry-secret',
    summary: 'A policy contains a credential, or copies one into traces.',
    effect: warned,
    source: 'GEP-4768, Telemetry; OWASP, Logging Cheat Sheet ("Data to exclude")',
  },
  function judge({ provider, attributes = [] }: Tracing, report) {
    for (const [index, { name = '' }] of (provider?.headers ?? []).entries()) {
      if (secretHeaders.has(headerKey(name)))
        report({
          below: ['provider', 'headers', index],
          value: display(name),
          message: `Header ${quote(name)} contains a credential, and everyone who can read this policy can see it. Let a collector inside the cluster add it.`,
        });
    }
    for (const [index, { sourceType, headerName = '' }] of attributes.entries()) {
      if (sourceType === 'Header' && secretHeaders.has(headerKey(headerName)))
        report({
          below: ['attributes', index, 'headerName'],
          value: display(headerName),
          message: `Header ${quote(headerName)} contains a credential, and every trace would include it. Everyone who can read traces could impersonate clients. Remove this attribute.`,
        });
    }
  },
);
