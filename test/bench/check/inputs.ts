import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { officialBundles } from '../../../tools/official-crds.ts';

/** Writes the schemas of the official CRDs of v1.7, standard, in the form that kubeconform wants; returns its option. */
export function writeSchemas(folder: string): string {
  mkdirSync(folder);
  const official = officialBundles().find(({ bundle }) => bundle.minor === '1.7' && bundle.channel === 'standard');
  for (const { spec } of official?.crds ?? []) {
    for (const { name, schema } of spec.versions) {
      writeFileSync(
        join(folder, `${spec.names.kind.toLowerCase()}_${name}.json`),
        JSON.stringify(schema.openAPIV3Schema),
      );
    }
  }
  return `${folder}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json`;
}

const perFile = 100;

/** Writes files of a hundred objects each, all valid; returns how many objects there are. */
export function writeObjects(folder: string, files: number): number {
  mkdirSync(folder);
  for (let file = 0; file < files; file++) {
    const documents = Array.from({ length: perFile }, (_, position) =>
      position === 0 ? gateway(file) : route(file, position),
    );
    writeFileSync(join(folder, `${String(file).padStart(4, '0')}.yaml`), documents.join('---\n'));
  }
  return files * perFile;
}

/** Pieces of a stream of objects, of so many bytes together. */
export function* streamOfObjects(bytes: number): Generator<string> {
  for (let sent = 0, number = 0; sent < bytes; number++) {
    const piece = `${route(number, 1)}---\n`;
    sent += piece.length;
    yield piece;
  }
}

function gateway(file: number): string {
  return `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata:
  name: gateway-${file}
  namespace: infra
spec:
  gatewayClassName: example
  listeners:
  - name: web
    port: 80
    protocol: HTTP
    hostname: '*.example.com'
    allowedRoutes:
      namespaces:
        from: All
  - name: secure
    port: 443
    protocol: HTTPS
    tls:
      mode: Terminate
      certificateRefs:
      - name: wildcard
`;
}

/** @returns a route like many: two rules, a header match, a filter, timeouts */
export function route(file: number, position: number): string {
  return `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: route-${file}-${position}
  namespace: shop
  labels:
    app.kubernetes.io/name: cart
spec:
  parentRefs:
  - name: gateway-${file}
    namespace: infra
    sectionName: web
  hostnames:
  - host-${position}.example.com
  rules:
  - matches:
    - path:
        type: Exact
        value: /cart/${position}
      headers:
      - name: x-version
        value: next
    backendRefs:
    - name: cart-next
      port: 8080
  - matches:
    - path:
        type: PathPrefix
        value: /cart
    timeouts:
      request: 5s
      backendRequest: 2s
    filters:
    - type: RequestHeaderModifier
      requestHeaderModifier:
        set:
        - name: x-team
          value: shop
    backendRefs:
    - name: cart
      port: 8080
      weight: 9
    - name: cart-next
      port: 8080
      weight: 1
`;
}
