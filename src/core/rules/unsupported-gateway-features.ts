import type { OwnerKind } from '../graph/listener-sets.ts';
import type { Path } from '../resources/path.ts';
import { isReadable, type Resource } from '../resources/resource.ts';
import { unsupportedValueAt } from './parts.ts';
import type { Consequence, Report } from './rule.ts';

/** What a Gateway asks for and does not get; serving it without would open more than its owner allowed. */
export function checkGatewayFeatures(gateway: Resource<'Gateway'>, report: Report): void {
  const { spec } = gateway;
  if (spec?.infrastructure?.parametersRef !== undefined) {
    report({
      path: ['spec', 'infrastructure', 'parametersRef'],
      consequence: refused('InvalidParameters'),
      message: 'This controller reads no parameters for a Gateway, so the Gateway is not served. Remove parametersRef.',
    });
  }
  checkAddresses(spec?.addresses ?? [], report);
}

type GatewaySpec = NonNullable<Resource<'Gateway'>['spec']>;

/** Any address will do for an entry that only says it wants one. */
function checkAddresses(addresses: NonNullable<GatewaySpec['addresses']>, report: Report): void {
  for (const [index, { type = 'IPAddress', value = '', routability = '' }] of addresses.entries()) {
    if (type === 'IPAddress' && value === '' && routability === '') continue;
    report({
      path: ['spec', 'addresses', index],
      consequence: refused('UnsupportedAddress'),
      message: 'Addresses cannot be chosen yet, so the Gateway is not served. Remove addresses, or write one of type IPAddress without a value.',
    });
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

function refused(reason: string): Consequence {
  return { condition: 'Accepted', reason, scope: 'object' };
}
