import { display, quote } from '../../text/display.ts';
import { headerKey } from '../../text/header.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { deniedWhenStrict, recorded, warned } from '../engine/effects.ts';

// What XTelemetryPolicies ask for.

interface Reference {
  readonly group?: string;
  readonly kind?: string;
}

export const telemetryTargetKind = unenforcedRule({
  id: 'telemetry-target-kind',
  summary: 'An XTelemetryPolicy targets something other than a Gateway.',
  effect: deniedWhenStrict,
  source: 'Gateway API v1.7.0, TelemetryPolicySpec.targetRefs (Gateway is core); GEP-4768',
}, function judge({ group = '', kind = '' }: Reference, report) {
  if (group === 'gateway.networking.k8s.io' && kind === 'Gateway') return;
  report({ below: ['kind'], value: display(group === '' ? kind : `${group}/${kind}`), message: `Implementations need to support a Gateway as target, not the kind ${quote(kind)} of the group ${quote(group)}. Write kind: Gateway and group: gateway.networking.k8s.io.` });
});

interface Attribute {
  readonly sourceType?: string;
  readonly attributeKey?: string;
  readonly headerName?: string;
  readonly literalValue?: string;
}

/** The namespaces of stable names that describe a request or its connection. */
const knownNamespaces: ReadonlySet<string> = new Set(['http', 'url', 'client', 'server', 'network', 'user_agent', 'error', 'tls']);

export const telemetryAttributeKey = unenforcedRule({
  id: 'telemetry-attribute-key',
  summary: 'The key of an attribute is no stable name of OpenTelemetry.',
  effect: warned,
  source: 'GEP-5253, Telemetry attributes; OpenTelemetry, Semantic Conventions for HTTP',
}, function judge({ sourceType, attributeKey = '' }: Attribute, report) {
  if (sourceType !== 'Attribute' || knownNamespaces.has(attributeKey.split('.')[0] ?? '')) return;
  report({ below: ['attributeKey'], value: display(attributeKey), message: `${quote(attributeKey)} is no name of OpenTelemetry for requests, so implementations leave it out. Write one such as http.request.method or url.path.` });
});

const secretHeaders: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization', 'cookie', 'set-cookie', 'x-api-key']);

interface Tracing {
  readonly mode?: string;
  readonly provider?: { readonly headers?: readonly { readonly name?: string }[] };
  readonly attributes?: readonly Attribute[];
  readonly samplingRate?: { readonly numerator?: number };
}

export const telemetrySecret = unenforcedRule({
  id: 'telemetry-secret',
  summary: 'A credential stands in a policy, or is copied into traces.',
  effect: warned,
  source: 'GEP-4768, Telemetry; OWASP, Logging Cheat Sheet ("Data to exclude")',
}, function judge({ provider, attributes = [] }: Tracing, report) {
  for (const [index, { name = '' }] of (provider?.headers ?? []).entries()) {
    if (secretHeaders.has(headerKey(name))) report({ below: ['provider', 'headers', index], value: display(name), message: `The value of ${quote(name)} stands here for everybody who may read this policy. Let a collector within the cluster add it.` });
  }
  for (const [index, { sourceType, headerName = '' }] of attributes.entries()) {
    if (sourceType === 'Header' && secretHeaders.has(headerKey(headerName))) report({ below: ['attributes', index, 'headerName'], value: display(headerName), message: `Every trace would hold the ${quote(headerName)} of its request, by which whoever reads traces could act for clients. Remove this attribute.` });
  }
});

/** The most that spans may have by default in OpenTelemetry. */
const usualAttributes = 128;

export const telemetryManyAttributes = unenforcedRule({
  id: 'telemetry-many-attributes',
  summary: 'A trace gets more attributes than spans hold.',
  effect: warned,
  source: 'OpenTelemetry Specification, "Span Limits" (AttributeCountLimit 128); Gateway API v1.7.0, Tracing.attributes (without limit)',
}, function judge(attributes: readonly Attribute[], report) {
  if (attributes.length <= usualAttributes) return;
  report({ below: [usualAttributes], value: String(attributes.length), message: `There are ${attributes.length} attributes, but a span holds ${usualAttributes} by default; the others are lost. Keep those that somebody looks for.` });
});

export const tracingWithoutEffect = unenforcedRule({
  id: 'tracing-without-effect',
  summary: 'An XTelemetryPolicy changes nothing.',
  effect: recorded,
  source: 'Gateway API v1.7.0, Tracing.mode and .samplingRate',
}, function judge({ mode = 'ImplementationDefault', samplingRate }: Tracing, report) {
  if (mode === 'ImplementationDefault') report({ below: ['mode'], value: mode, message: 'mode: ImplementationDefault leaves tracing as it is without this policy. Write mode: Enabled with provider, or mode: Disabled.' });
  if (samplingRate?.numerator === 0) report({ below: ['samplingRate', 'numerator'], value: '0', message: 'A sampling rate of 0 traces no request. Write a rate above 0, or mode: Disabled.' });
});
