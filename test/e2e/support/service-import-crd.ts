/** The name of the CustomResourceDefinition of ServiceImports. */
export const serviceImportCrd = 'serviceimports.multicluster.x-k8s.io';

/** A CustomResourceDefinition of ServiceImports (sigs.k8s.io/mcs-api) that permits every content. */
export function serviceImportDefinition(): object {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: serviceImportCrd,
      annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes/enhancements/pull/1748' },
    },
    spec: {
      group: 'multicluster.x-k8s.io',
      scope: 'Namespaced',
      names: { plural: 'serviceimports', singular: 'serviceimport', kind: 'ServiceImport' },
      versions: [
        { name: 'v1alpha1', served: true, storage: false, schema },
        { name: 'v1beta1', served: true, storage: true, schema },
      ],
    },
  };
}
