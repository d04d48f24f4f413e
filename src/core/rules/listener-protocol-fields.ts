import type { Path } from '../resources/path.ts';
import { isReadable, type Resource } from '../resources/resource.ts';
import { display } from '../text/display.ts';
import { denied } from './effects.ts';
import { rule } from './rule.ts';

/** A listener that terminates TLS but names no certificate is the concern of another rule: another object may cure it. */
export const listenerProtocolFields = rule({
  id: 'listener-protocol-fields',
  kinds: ['Gateway'],
  summary: 'A listener has TLS settings or a hostname that its protocol cannot have, or lacks those that it needs.',
  effect: denied,
  consequence: { condition: 'Accepted', reason: 'UnsupportedValue', scope: 'listener' },
  source: 'Gateway API v1.7.0, Listener.protocol, .hostname and .tls; ListenerTLSConfig.mode',
  check(gateway, _read, report) {
    for (const [index, listener] of (gateway.spec?.listeners ?? []).entries()) {
      const path = ['spec', 'listeners', index];
      for (const { below, ...found } of misfits(listener)) {
        const at = [...path, ...below];
        if (isReadable(gateway, at)) report({ path: at, ...found });
      }
    }
  },
});

type ListenerView = NonNullable<NonNullable<Resource<'Gateway'>['spec']>['listeners']>[number];

interface Misfit {
  readonly below: Path;
  readonly value?: string;
  readonly message: string;
}

/** What to do about `tls` on a protocol that has none. */
const plainProtocols: ReadonlyMap<string, string> = new Map([
  ['HTTP', 'Remove tls, or write protocol: HTTPS'],
  ['TCP', 'Remove tls, or write protocol: TLS'],
  ['UDP', 'Remove tls'],
]);

function* misfits({ protocol = '', hostname, tls }: ListenerView): Iterable<Misfit> {
  const withoutTls = plainProtocols.get(protocol);
  if (withoutTls !== undefined && tls !== undefined) {
    yield { below: ['tls'], message: `A listener of protocol ${protocol} has no TLS, but tls is set. ${withoutTls}.` };
  }
  if ((protocol === 'TCP' || protocol === 'UDP') && hostname !== undefined && hostname !== '') {
    yield { below: ['hostname'], value: display(hostname), message: `${protocol} carries no hostname that could be compared. Remove hostname${protocol === 'TCP' ? ', or write protocol: TLS' : ''}.` };
  }
  if (protocol === 'HTTPS' && tls?.mode !== undefined && tls.mode !== 'Terminate') {
    yield { below: ['tls', 'mode'], value: display(tls.mode), message: 'An HTTPS listener must read requests, so it has to terminate TLS. Write mode: Terminate, or protocol: TLS to pass connections through.' };
  }
  if (protocol === 'TLS' && tls === undefined) {
    yield { below: ['tls'], message: 'A listener of protocol TLS needs tls. Write tls with mode: Passthrough, or with mode: Terminate and certificateRefs.' };
  }
}
