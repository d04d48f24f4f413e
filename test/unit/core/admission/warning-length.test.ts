import { expect, test } from '@jest/globals';
import { evaluate, ourClass, serviceWith } from '../../../support/evaluation.ts';
import { decide, requestOf } from './requests.ts';

// The API server cuts warnings at 256 characters, and what helps must not be cut where names are as long as usual.
const namespace = 'payments-production-eu-1';
const other = 'platform-networking-eu-1';
const name = 'checkout-service-v2-main';
const refused = { allowedRoutes: { namespaces: { from: 'Selector', selector: { matchLabels: { public: 'yes' } } } } };
const gateway = (metadata: object, listener: object) => ({
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'Gateway',
  metadata,
  spec: {
    gatewayClassName: 'sallyport',
    listeners: [{ name: 'https-for-all-customers', port: 80, protocol: 'HTTP', ...listener }],
  },
});

const world = evaluate([
  ourClass,
  gateway({ name: 'closed', namespace: other }, refused),
  gateway({ name: 'grpc', namespace }, { allowedRoutes: { kinds: [{ kind: 'GRPCRoute' }] } }),
  gateway({ name: 'foreign', namespace }, { hostname: 'www.production.example.com' }),
  serviceWith({ ports: [{ port: 8080 }, { port: 8443 }] }, name, namespace),
]);

const route = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'HTTPRoute',
  metadata: { name, namespace },
  spec: {
    hostnames: ['checkout.shop.example.org'],
    parentRefs: [
      { name: 'gateway-that-is-not-there', namespace: other },
      { name: 'closed', namespace: other },
      { name: 'grpc' },
      { name: 'foreign', sectionName: 'https-for-all-customers' },
      { name: 'foreign', sectionName: 'https-for-some-customers' },
    ],
    rules: [
      {
        backendRefs: [
          { name: 'service-that-is-not-there', port: 80 },
          { name, port: 80 },
          { name, namespace: other, port: 80 },
        ],
      },
    ],
  },
};

test('what helps in warnings about other objects fits into what the API server shows', () => {
  const { warnings } = decide(world, requestOf({ object: route }));
  expect(warnings.map((warning) => /^\[[a-z-]+\]/.exec(warning)?.[0])).toEqual([
    '[parent-not-found]',
    '[no-matching-parent]',
    '[not-allowed-by-listeners]',
    '[not-allowed-by-listeners]',
    '[no-matching-listener-hostname]',
    '[backend-not-found]',
    '[backend-not-found]',
    '[backend-not-permitted]',
  ]);
  // Only the lists at the end, of what there is, may be longer.
  const helpful = warnings.map((warning) => warning.replace(/ (?:Asked: |Listeners: |Its listeners are ).*$/, ''));
  expect(helpful.filter((text) => Array.from(text).length > 255)).toEqual([]);
});
