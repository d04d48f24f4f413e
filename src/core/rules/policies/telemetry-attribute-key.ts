import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Attribute } from './telemetry.ts';

/** The namespaces of stable attribute names that describe a request or its connection. */
const knownNamespaces: ReadonlySet<string> = new Set([
  'http',
  'url',
  'client',
  'server',
  'network',
  'user_agent',
  'error',
  'tls',
]);

export const telemetryAttributeKey = unenforcedRule(
  {
    id: 'telemetry-attribute-key',
    summary: 'The key of an attribute is not a stable OpenTelemetry name.',
    effect: warned,
    source: 'GEP-5253, Telemetry attributes; OpenTelemetry, Semantic Conventions for HTTP',
  },
  function judge({ sourceType, attributeKey = '' }: Attribute, report) {
    if (sourceType !== 'Attribute' || knownNamespaces.has(attributeKey.split('.')[0] ?? '')) return;
    report({
      below: ['attributeKey'],
      value: display(attributeKey),
      message: `Unknown attribute ${quote(attributeKey)}: it is not an OpenTelemetry attribute of requests, so implementations ignore it. Use one such as http.request.method or url.path.`,
    });
  },
);
