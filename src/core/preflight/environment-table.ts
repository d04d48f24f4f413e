import type { Channel, Minor } from '../schema/index.ts';

// Facts about Kubernetes and about tools and providers that manage CRDs, with their sources.

/**
 * The minimum Kubernetes minor version for the CRDs of a bundle, starting with a Gateway API minor version. The last matching
 * row applies.
 */
export const kubernetesMinimums: readonly {
  readonly since: Minor;
  readonly channel: Channel | 'both';
  readonly minor: number;
  readonly why: string;
  readonly source: string;
}[] = [
  {
    since: '1.0',
    channel: 'both',
    minor: 25,
    why: 'CRDs have CEL rules',
    source: 'https://kubernetes.io/docs/reference/using-api/cel/',
  },
  {
    since: '1.5',
    channel: 'both',
    minor: 31,
    why: 'TLSRoute uses the CEL library for IP addresses',
    source: 'https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-ip-address-library',
  },
  {
    since: '1.6',
    channel: 'experimental',
    minor: 32,
    why: 'XBackend, and Gateway from v1.7 on, use the CEL library for formats',
    source: 'https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-format-library',
  },
];

/** The ValidatingAdmissionPolicy that bundles contain since v1.5. */
export const safeUpgrades = 'safe-upgrades.gateway.networking.k8s.io';
export const safeUpgradesSource = 'https://github.com/kubernetes-sigs/gateway-api/issues/4162';

/** A policy that allows only the provider to change CRDs. */
export interface ProviderPolicy {
  readonly name: string;
  readonly provider: string;
  /** The denied changes: all, or only experimental CRDs. */
  readonly denies: 'all' | 'experimental';
  readonly source: string;
}

export const providerPolicies: readonly ProviderPolicy[] = [
  {
    name: 'openshift-ingress-operator-gatewayapi-crd-admission',
    provider: 'the Ingress Operator of OpenShift',
    denies: 'all',
    source: 'https://github.com/openshift/cluster-ingress-operator/pull/1192',
  },
  {
    name: 'enforce-gateway-standard-channel',
    provider: 'Google Kubernetes Engine',
    denies: 'experimental',
    source: 'https://github.com/kubernetes-sigs/external-dns/pull/6367',
  },
];

/** A tool or provider that reverts changes of CRDs, identified by a label or annotation. */
export interface CrdOwner {
  readonly mark: string;
  /** The value of the label or annotation; `undefined`: any. */
  readonly value?: string;
  readonly owner: string;
  /** The commands that show the owner's source. `{value}` is replaced by the value of the label or annotation. */
  readonly advice: string;
  readonly source: string;
}

export const crdOwners: readonly CrdOwner[] = [
  {
    mark: 'components.gke.io/component-version',
    owner: 'Google Kubernetes Engine',
    advice: 'Upgrade through the provider, or disable its management of the Gateway API.',
    source: 'https://github.com/GoogleCloudPlatform/gke-gateway-api/pull/53',
  },
  {
    mark: 'addonmanager.kubernetes.io/mode',
    value: 'Reconcile',
    owner: 'the add-on manager of the provider',
    advice: 'Upgrade through the provider, or disable its management of the Gateway API.',
    source: 'https://github.com/kubernetes/kubernetes/tree/master/cluster/addons/addon-manager',
  },
  {
    mark: 'kapp.k14s.io/app',
    owner: 'kapp (for example the Gateway API package of VMware vSphere Kubernetes Service)',
    advice: 'Upgrade the package.',
    source: 'https://knowledge.broadcom.com/external/article/426552/gateway-api-package-changes-are-reverted.html',
  },
  {
    mark: 'argocd.argoproj.io/tracking-id',
    owner: 'Argo CD',
    advice: 'Change the version in the repository of the application.',
    source: 'https://argo-cd.readthedocs.io/en/stable/user-guide/resource_tracking/',
  },
  {
    mark: 'argocd.argoproj.io/instance',
    owner: 'Argo CD',
    advice: 'Change the version in the repository of the application.',
    source: 'https://argo-cd.readthedocs.io/en/stable/user-guide/resource_tracking/',
  },
  {
    mark: 'kustomize.toolkit.fluxcd.io/name',
    owner: 'Flux',
    advice: 'Change the version in the repository of the Kustomization.',
    source: 'https://fluxcd.io/flux/components/kustomize/kustomizations/',
  },
  {
    mark: 'helm.toolkit.fluxcd.io/name',
    owner: 'Flux',
    advice: 'Change the version of the HelmRelease.',
    source: 'https://fluxcd.io/flux/components/helm/helmreleases/',
  },
  {
    mark: 'meta.helm.sh/release-name',
    owner: 'Helm',
    advice: 'Upgrade the release, or take the CRDs out of it.',
    source: 'https://helm.sh/docs/chart_best_practices/custom_resource_definitions/',
  },
];
