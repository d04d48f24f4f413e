import { integer, list, object, string } from '../node.ts';
import { multiclusterGroup, served, stored, type KindTable } from './table.ts';

// Controllers write ServiceImports, and the API server has already validated them. The table contains only the fields that we
// use, without bounds. v1alpha1 and v1beta1 are equal in these fields (mcs-api v0.5.0).
const body = object({
  spec: object({
    type: string(),
    ips: list(string()),
    sessionAffinity: string(),
    ports: list(object({ name: string(), port: integer(), protocol: string(), appProtocol: string() })),
  }),
});

export const serviceImport: KindTable<typeof body> = {
  group: multiclusterGroup,
  kind: 'ServiceImport',
  plural: 'serviceimports',
  namespaced: true,
  versions: [stored('v1beta1'), served('v1alpha1')],
  body,
};
