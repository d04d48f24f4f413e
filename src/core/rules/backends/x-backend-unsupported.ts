import { backendProtocolNames } from '../../graph/backends/app-protocols.ts';
import { isReadable } from '../../resources/resource.ts';
import { display, quote } from '../../text/display.ts';
import { warned } from '../engine/effects.ts';
import { rule, type Finding } from '../engine/rule.ts';
import { enumsOf } from '../sessions/sessions.ts';
import { advice } from '../support/known-values.ts';
import type { XBackendSpec } from './x-backend-spec.ts';
import { backendTlsMode } from '../../semantics/intended.ts';

export const xBackendUnsupported = rule({
  id: 'x-backend-unsupported',
  kinds: ['XBackend'],
  about: 'dialect',
  summary: 'An XBackend has a type, protocol or setting that Sallyport does not support.',
  effect: warned,
  consequence: { condition: 'Accepted', reason: 'UnsupportedValue', scope: 'object' },
  source: 'Gateway API v1.7.0, BackendSpec; GEP-4894, "Conformance Tiers"',
  check(backend, _read, report) {
    for (const { path, ...found } of unsupported(backend.spec ?? {}))
      if (isReadable(backend, path)) report({ path, ...found });
  },
});

/** The end of each message: the effect on the traffic. */
const unserved = 'Until then, requests to the XBackend get 500.';

const supportedTypes = ['ExternalHostname', 'EndpointSelector'];
const supportedModes = ['None', 'ServerOnly', 'ClientAndServer'];

function* unsupported({ type = '', protocol, tls, sessionPersistence }: XBackendSpec): Iterable<Omit<Finding, 'rule'>> {
  if (!supportedTypes.includes(type)) {
    yield {
      path: ['spec', 'type'],
      value: display(type),
      message: `Unsupported type ${quote(type)}. Use type: ${supportedTypes.join(' or ')}. ${unserved}`,
    };
  }
  if (protocol !== undefined && !backendProtocolNames.includes(protocol)) {
    yield {
      path: ['spec', 'protocol'],
      value: display(protocol),
      message: `Unsupported protocol ${quote(protocol)}. Use one of ${backendProtocolNames.join(', ')}. ${unserved}`,
    };
  }
  const mode = backendTlsMode(tls);
  if (!supportedModes.includes(mode)) {
    yield {
      path: ['spec', 'tls', 'mode'],
      value: display(mode),
      message: `Unsupported mode ${quote(mode)}. Use mode: ${supportedModes.slice(0, -1).join(', ')} or ${supportedModes.at(-1)}. ${unserved}`,
    };
  }
  for (const { below, value, known } of enumsOf(sessionPersistence ?? {})) {
    if (value === undefined || known.includes(value)) continue;
    yield {
      path: ['spec', 'sessionPersistence', ...below],
      value: display(value),
      message: `Unsupported ${below.at(-1)} ${quote(value)}. ${advice(value, known)} ${unserved}`,
    };
  }
}
