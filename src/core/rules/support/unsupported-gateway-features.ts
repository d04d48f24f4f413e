import { addresses, type AddressNode } from '../../graph/addresses.ts';
import type { OwnerKind } from '../../graph/listener-sets.ts';
import type { Reader } from '../../incremental/reader.ts';
import type { Path } from '../../resources/path.ts';
import { isReadable, type Resource } from '../../resources/resource.ts';
import { display, quote } from '../../text/display.ts';
import { isIpAddress } from '../../text/hostname.ts';
import type { Violation } from '../engine/demand.ts';
import { advice } from './known-values.ts';
import { unsupportedValueAt } from '../engine/parts.ts';
import type { Report } from '../engine/rule.ts';

/** What a Gateway asks for and does not get; serving it otherwise could open more than its owner allowed. */
export function checkGatewayFeatures({ ref: { namespace, name } }: Resource<'Gateway'>, read: Reader, report: Report): void {
  for (const address of read.query(addresses, namespace, name)) {
    const problem = describeAddress(address);
    if (problem !== undefined) report({ path: ['spec', 'addresses', address.index, ...problem.below], consequence: { condition: 'Accepted', reason: 'UnsupportedAddress', scope: 'object' }, value: problem.value, message: problem.message });
  }
}

function describeAddress(address: AddressNode): Required<Violation> | undefined {
  const loss = 'so the Gateway is not served';
  switch (address.outcome) {
    case 'unsupportedType':
      return { below: ['type'], value: display(address.type), message: `Addresses of the type ${quote(address.type)} are not known here, ${loss}. ${advice(address.type, ['IPAddress', 'Hostname'])}` };
    case 'unsupportedRoutability':
      return { below: [], value: display(address.routability), message: `From where an address can be reached cannot be chosen yet, ${loss}: it could be open to more than is meant. Remove routability.` };
    case 'malformed':
      return { below: ['value'], value: display(address.value), message: `${quote(address.value)} is no ${address.type === 'IPAddress' ? 'IP address' : 'hostname'}, ${loss}. ${isIpAddress(address.value) ? 'Write type: IPAddress' : 'Write one'}, or leave value out for any.` };
    case 'wanted':
      return undefined;
  }
}

/** What a listener asks for and does not get. */
export function checkListenerFeatures(owner: Resource<OwnerKind>, report: Report): void {
  for (const [index, { name = '', port, tls, filters }] of (owner.spec?.listeners ?? []).entries()) {
    const path = ['spec', 'listeners', index];
    if (name === '' && isReadable(owner, [...path, 'name'])) {
      report({
        path: [...path, 'name'],
        consequence: unsupportedValueAt(path),
        message: 'The listener has no name, by which routes and status would find it, so it is not served. Write one.',
      });
    }
    if (isReadable(owner, [...path, 'port'])) checkPort(port, [...path, 'port'], report);
    if (tls?.frontendValidation !== undefined) {
      report({
        path: [...path, 'tls', 'frontendValidation'],
        consequence: unsupportedValueAt(path),
        message: 'Certificates of clients are checked by what the Gateway says, not by its listeners, so the listener is not served: without that check it would let anybody in. Write it under spec.tls.frontend.',
      });
    }
    if ((filters?.requests ?? []).length > 0) {
      report({
        path: [...path, 'filters'],
        consequence: unsupportedValueAt(path),
        message: 'Filters of a listener are not served yet, so the listener is not: without them requests would pass unchecked. Remove filters.',
      });
    }
  }
}

function checkPort(port: number | undefined, path: Path, report: Report): void {
  if (port !== undefined && port >= 1 && port <= 65_535) return;
  report({
    path,
    ...(port === undefined ? {} : { value: String(port) }),
    consequence: { condition: 'Accepted', reason: 'PortUnavailable', scope: 'listener' },
    message: `${port === undefined ? 'The listener has no port' : `There is no port ${port}`}, so it is not served. Write a number from 1 to 65535.`,
  });
}
