import { decideAdmission } from '../../../../src/core/admission/decide.ts';
import type { AdmissionPolicy } from '../../../../src/core/admission/policy.ts';
import type { AdmissionRequest, AdmissionVerdict } from '../../../../src/core/admission/types.ts';
import { ourClass, serviceWith, standardPolicy, type World } from '../../../support/evaluation.ts';
import { gatewayWith } from '../../../support/rules.ts';

/** A class of ours, a Gateway `shop/front` and a Service `shop/cart`. */
export const platform: readonly unknown[] = [
  ourClass,
  gatewayWith({ name: 'web', port: 80, protocol: 'HTTP' }),
  serviceWith({ ports: [{ port: 8080 }] }),
];

export const rule = { backendRefs: [{ name: 'cart', port: 8080 }] };
/** A rule that `redirect-with-backends` denies. */
export const wrongRule = { ...rule, filters: [{ type: 'RequestRedirect', requestRedirect: { scheme: 'https' } }] };

/** The route `shop/cart` on `front`, whose rules match different requests. */
export function cartRoute(rules: readonly object[], metadata: object = {}): object {
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name: 'cart', namespace: 'shop', ...metadata },
    spec: {
      parentRefs: [{ name: 'front' }],
      rules: rules.map((one, index) => ({ matches: [{ path: { value: `/${index}` } }], ...one })),
    },
  };
}

interface Write {
  readonly object?: object;
  readonly oldObject?: object;
}

/** The request for writing an object: CREATE, UPDATE or DELETE, by what is given. */
export function requestOf(write: Write, more: Partial<AdmissionRequest> = {}): AdmissionRequest {
  const { apiVersion, kind, metadata } = (write.object ?? write.oldObject ?? {}) as {
    apiVersion: string;
    kind: string;
    metadata: { name?: string; namespace?: string };
  };
  const [version = '', group = ''] = apiVersion.split('/').toReversed();
  const whenBoth = write.oldObject === undefined ? 'CREATE' : 'UPDATE';
  return {
    uid: 'one',
    operation: write.object === undefined ? 'DELETE' : whenBoth,
    group,
    version,
    kind,
    requestKind: { group, version, kind },
    resource: '',
    subResource: '',
    name: metadata.name ?? '',
    namespace: metadata.namespace ?? '',
    dryRun: false,
    userInfo: { username: 'someone', groups: [] },
    budgetMs: 1000,
    ...write,
    ...more,
  };
}

export interface Circumstances {
  readonly policy?: Partial<AdmissionPolicy>;
  readonly mayContinue?: () => boolean;
}

export function decide(
  { kernel }: World,
  request: AdmissionRequest,
  { policy = {}, mayContinue = () => true }: Circumstances = {},
): AdmissionVerdict {
  return decideAdmission(request, { kernel, policy: { ...standardPolicy, ...policy }, mayContinue });
}
