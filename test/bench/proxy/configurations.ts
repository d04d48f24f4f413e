import { certificateObject, gatewayObjects, serviceObjects } from '../../support/standalone-objects.ts';

/** In PEM. */
interface Pair {
  readonly certificate: string;
  readonly privateKey: string;
}

/** A backend that costs next to nothing: two bytes for everything, and the file `large` of a folder. */
export function upstreamConfiguration(port: number, folder: string): string {
  return nginx(`
    server {
      listen 127.0.0.1:${port};
      location = /shop/large { alias ${folder}/large; }
      location / { return 200 "ok"; }
    }`);
}

/** One route to one backend over kept-alive connections. `pem` is a file with a certificate and its key. */
export function nginxConfiguration(port: number, tlsPort: number, upstream: number, pem: string): string {
  return nginx(`
    upstream backend { server 127.0.0.1:${upstream}; keepalive 128; keepalive_requests 1000000000; }
    server {
      listen 127.0.0.1:${port};
      listen 127.0.0.1:${tlsPort} ssl http2;
      ssl_certificate ${pem};
      ssl_certificate_key ${pem};
      # Not a default of older versions.
      ssl_protocols TLSv1.2 TLSv1.3;
      location /shop {
        proxy_pass http://backend;
        proxy_http_version 1.1;
        proxy_set_header Connection "";
        proxy_set_header Host $http_host;
        proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      }
    }`);
}

function nginx(servers: string): string {
  return `
daemon off;
master_process off;
pid nginx.pid;
user root;
error_log stderr crit;
events { worker_connections 1024; }
http {
  access_log off;
  keepalive_requests 1000000000;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  ${servers}
}
`;
}

/** As `nginxConfiguration`. */
export function haproxyConfiguration(port: number, tlsPort: number, upstream: number, pem: string): string {
  return `
global
  nbthread 1
defaults
  mode http
  timeout client 60s
  timeout server 60s
  timeout connect 5s
  http-reuse always
  option forwardfor
frontend front
  bind 127.0.0.1:${port}
  bind 127.0.0.1:${tlsPort} ssl crt ${pem} alpn h2,http/1.1
  use_backend back if { path_beg /shop }
backend back
  server one 127.0.0.1:${upstream}
`;
}

/** As `nginxConfiguration`, in the words of the Gateway API. */
export function objects(port: number, tlsPort: number, upstream: number, pair: Pair): string {
  return `${gatewayObjects(
    { name: 'web', namespace: 'bench' },
    `{ name: http, port: ${port}, protocol: HTTP }`,
    `{ name: https, port: ${tlsPort}, protocol: HTTPS, tls: { certificateRefs: [{ name: tls }] } }`,
  )}${certificateObject('tls', pair, 'bench')}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: shop, namespace: bench }
spec:
  parentRefs: [{ name: web }]
  rules:
    - matches: [{ path: { type: PathPrefix, value: /shop } }]
      backendRefs: [{ name: shop, port: 80 }]
${serviceObjects({ name: 'shop', namespace: 'bench', endpoint: upstream })}`;
}
