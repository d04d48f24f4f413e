import { addresses, type AddressNode } from '../../graph/listeners/addresses.ts';
import type { OwnerKind } from '../../graph/listeners/listener-sets.ts';
import type { Reader } from '../../incremental/reader.ts';
import type { Path } from '../../resources/path.ts';
import { isReadable, type Resource } from '../../resources/resource.ts';
import { display, quote } from '../../text/display.ts';
import { isIpAddress } from '../../text/hostname.ts';
import type { Violation } from '../engine/demand.ts';
import { listenerFiltersPath } from '../../graph/listeners/listener-filters.ts';
import { checkListenerFilter } from './unsupported-filters.ts';
import { advice, expectOneOf } from './known-values.ts';
import { unsupportedValueAt } from '../engine/parts.ts';
import type { ReportFinding } from '../engine/rule.ts';

/** Reports unsupported settings of a Gateway. Ignoring them could allow more than its owner intended. */
export function checkGatewayFeatures(
  { ref: { namespace, name } }: Resource<'Gateway'>,
  read: Reader,
  report: ReportFinding,
): void {
  for (const address of read.query(addresses, namespace, name)) {
    const problem = describeAddress(address);
    if (problem !== undefined)
      report({
        path: ['spec', 'addresses', address.index, ...problem.below],
        consequence:
          address.outcome === 'unsupportedRoutability'
            ? { condition: 'AddressesAssigned', reason: 'NotAssigned', scope: 'object' }
            : { condition: 'Accepted', reason: 'UnsupportedAddress', scope: 'object' },
        value: problem.value,
        message: problem.message,
      });
  }
}

function describeAddress(address: AddressNode): Required<Violation> | undefined {
  const loss = 'so the Gateway is not accepted';
  switch (address.outcome) {
    case 'unsupportedType':
      return {
        below: ['type'],
        value: display(address.type),
        message: `Unsupported address type ${quote(address.type)}, ${loss}. ${advice(address.type, ['IPAddress', 'Hostname'])}`,
      };
    case 'unsupportedRoutability':
      return {
        below: ['routability'],
        value: display(address.routability),
        message: `Unsupported routability ${quote(address.routability)} for type ${address.type}: the Gateway gets no address for this entry. Use type: IPAddress with routability: Cluster, or remove routability.`,
      };
    case 'malformed':
      return {
        below: ['value'],
        value: display(address.value),
        message: `Invalid ${address.type === 'IPAddress' ? 'IP address' : 'hostname'} ${quote(address.value)}, ${loss}. ${isIpAddress(address.value) ? 'Use type: IPAddress' : 'Correct it'}, or remove value to get any address.`,
      };
    case 'wanted':
      return undefined;
  }
}

const tlsModes = ['Terminate', 'Passthrough'];

/** Reports unsupported settings of a listener. */
export function checkListenerFeatures(owner: Resource<OwnerKind>, report: ReportFinding): void {
  for (const [index, { name = '', port, protocol, tls, filters }] of (owner.spec?.listeners ?? []).entries()) {
    const path = ['spec', 'listeners', index];
    if (name === '' && isReadable(owner, [...path, 'name'])) {
      report({
        path: [...path, 'name'],
        consequence: unsupportedValueAt(path),
        message:
          'Name is required: routes and status refer to a listener by its name. The listener is not served. Set a name.',
      });
    }
    if (isReadable(owner, [...path, 'port'])) checkPort(port, [...path, 'port'], report);
    // Another rule reports unsupported modes with HTTPS.
    if (protocol === 'TLS')
      expectOneOf(tlsModes, { what: 'TLS mode', value: tls?.mode, path: () => [...path, 'tls', 'mode'] }, report);
    if (tls?.frontendValidation !== undefined) {
      report({
        path: [...path, 'tls', 'frontendValidation'],
        consequence: unsupportedValueAt(path),
        message:
          'Unsupported field: client validation is configured on the Gateway, not on listeners. The listener is not served, because without the validation it would admit every client. Use spec.tls.frontend.',
      });
    }
    for (const [position, filter] of (filters?.requests ?? []).entries())
      checkListenerFilter(filter, [...listenerFiltersPath(index), position], report);
  }
}

function checkPort(port: number | undefined, path: Path, report: ReportFinding): void {
  if (port !== undefined && port >= 1 && port <= 65_535) return;
  report({
    path,
    ...(port === undefined ? {} : { value: String(port) }),
    consequence: { condition: 'Accepted', reason: 'PortUnavailable', scope: 'listener' },
    message: `${port === undefined ? 'Port is required' : `Invalid port ${port}`}, so the listener is not served. Use a number between 1 and 65535.`,
  });
}
