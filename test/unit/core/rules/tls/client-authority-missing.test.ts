import { describe, expect, test } from '@jest/globals';
import { installationCell } from '../../../../../src/core/graph/inputs.ts';
import { write } from '../../../../../src/core/incremental/index.ts';
import { partProblems } from '../../../../../src/core/rules/engine/validity.ts';
import { evaluate, found, installation, ourClass, type Facts } from '../../../../support/evaluation.ts';
import { validatingGateway } from '../../../../support/client-validation.ts';

const facts: Facts = { authorities: { 'shop/clients': { type: 'authorities', certificates: ['PEM'] } } };
const good = { group: '', kind: 'ConfigMap', name: 'clients' };
const gone = { ...good, name: 'gone' };
const judged = (frontend: object) => found('client-authority-missing', [validatingGateway(frontend), ourClass], facts);
const missing = (place: string) => [
  [
    'spec.listeners[0].port',
    `No valid CA certificate: the listener requires client certificates, but no reference in ${place} of the Gateway is valid, so the listener is not served. Use a ConfigMap with a PEM bundle in ca.crt.`,
    'Accepted NoValidCACertificate listener',
  ],
];

describe('client-authority-missing', () => {
  test('where no reference leads to an authority', () => {
    expect(judged({ default: { validation: { caCertificateRefs: [gone] } } })).toEqual(
      missing('spec.tls.frontend.default.validation.caCertificateRefs'),
    );
    expect(judged({ default: { validation: {} } })).toHaveLength(1);
  });

  test('what is said for the port of a listener goes before the default', () => {
    const perPort = [
      { port: 80, tls: {} },
      { port: 443, tls: { validation: { caCertificateRefs: [gone] } } },
    ];
    expect(judged({ default: { validation: { caCertificateRefs: [good] } }, perPort })).toEqual(
      missing('spec.tls.frontend.perPort[1].tls.validation.caCertificateRefs'),
    );
    expect(
      judged({ default: { validation: { caCertificateRefs: [gone] } }, perPort: [{ port: 443, tls: {} }] }),
    ).toEqual([]);
  });

  test('a mode that is unknown', () => {
    expect(judged({ default: { validation: { mode: 'AllowFriends', caCertificateRefs: [good] } } })).toEqual([
      [
        'spec.listeners[0].port',
        expect.stringContaining(
          'Unsupported mode "AllowFriends" in spec.tls.frontend.default.validation.mode of the Gateway, so the listener is not served. Use AllowValidOnly or AllowInsecureFallback.',
        ),
        'Accepted UnsupportedValue listener',
      ],
    ]);
  });

  test.each<[string, object]>([
    ['one that is left', { default: { validation: { caCertificateRefs: [gone, good] } } }],
    ['nothing that is asked for', { default: {} }],
  ])('%s is enough', (_, frontend) => {
    expect(judged(frontend)).toEqual([]);
  });

  test('says nothing where ConfigMaps are not followed', () => {
    const { kernel } = evaluate([
      validatingGateway({ default: { validation: { caCertificateRefs: [gone] } } }),
      ourClass,
    ]);
    kernel.apply([write(installationCell, [], { ...installation, unobserved: ['ConfigMap', 'Secret'] })]);
    expect(
      kernel.read
        .query(partProblems, 'Gateway', 'shop', 'front')
        .filter(({ reason }) => reason.includes('CACertificate')),
    ).toEqual([]);
  });
});
