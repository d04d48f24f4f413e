import { certificateObject, gatewayObjects, serviceObjects } from '../../support/standalone-objects.ts';
import { grpcMessage } from './messages.ts';
import type { Protocol } from './measurement.ts';

/** In PEM. */
interface Pair {
  readonly certificate: string;
  readonly privateKey: string;
}

/** The ports of a proxy on loopback. */
export type Ports = Readonly<Record<Protocol, number>>;

/** The ports of the backends on 127.0.0.1. */
export interface Backends {
  /** Answers requests, with little processor time. */
  readonly http: number;
  /** Answers unary gRPC requests over cleartext HTTP/2, with little processor time. */
  readonly unary: number;
  readonly webSocket: number;
  /** Returns the messages of gRPC streams over cleartext HTTP/2. */
  readonly stream: number;
  readonly udp: number;
}

export interface Setting {
  readonly ports: Ports;
  readonly backends: Backends;
  /** A file with certificate and key. */
  readonly pem: string;
}

/** Files that the backend serves, by name. */
export const backendFiles: Readonly<Record<string, string>> = {
  large: 'x'.repeat(100 * 1024),
  message: grpcMessage.toString('latin1'),
};

/** Paths of requests. */
export const paths = {
  small: '/shop/item?id=1',
  large: '/shop/large',
  webSocket: '/socket',
  unary: '/bench.Unary/Call',
  stream: '/bench.Stream/Echo',
} as const;

/** A backend that takes little processor time: a response of two bytes, the file `large`, or a gRPC message with its trailer. */
export function backendConfiguration({ http, unary }: Backends, folder: string): string {
  return nginx(`
    server {
      listen 127.0.0.1:${http};
      location = ${paths.large} { alias ${folder}/large; }
      location / { return 200 "ok"; }
    }
    server {
      listen 127.0.0.1:${unary} http2;
      # A POST of a file is an error, whose page is the message. The mirror reads the request completely before.
      location / { root ${folder}; mirror /nothing; }
      location = /nothing { internal; return 204; }
      error_page 404 405 =200 /message;
      location = /message { root ${folder}; default_type application/grpc; add_trailer grpc-status 0; }
    }`);
}

/** Whether nginx supports streams (TCP and UDP): a folder with its dynamic module, built in, or not at all. */
export type StreamModule = { readonly folder: string } | 'static' | 'none';

/** One route to one backend for each protocol, over kept connections where the protocol has them. */
export function nginxConfiguration({ ports, backends, pem }: Setting, stream: StreamModule): string {
  const servers = `
    upstream http { server 127.0.0.1:${backends.http}; keepalive 128; keepalive_requests 1000000000; }
    upstream socket { server 127.0.0.1:${backends.webSocket}; }
    upstream unary { server 127.0.0.1:${backends.unary}; keepalive 128; keepalive_requests 1000000000; }
    upstream stream { server 127.0.0.1:${backends.stream}; keepalive 128; keepalive_requests 1000000000; }
    server {
      listen 127.0.0.1:${ports.http};
      listen 127.0.0.1:${ports.https} ssl http2;
      ssl_certificate ${pem};
      ssl_certificate_key ${pem};
      # Not a default of older versions.
      ssl_protocols TLSv1.2 TLSv1.3;
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      location /shop {
        proxy_pass http://http;
        proxy_set_header Connection "";
        proxy_set_header Host $http_host;
        proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      }
      location = ${paths.webSocket} {
        proxy_pass http://socket;
        proxy_set_header Upgrade $http_upgrade;
        proxy_set_header Connection Upgrade;
        proxy_set_header Host $http_host;
        proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      }
    }
    server {
      listen 127.0.0.1:${ports.grpc} http2;
      http2_max_concurrent_streams 1024;
      grpc_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      location = ${paths.unary} { grpc_pass grpc://unary; }
      location = ${paths.stream} { grpc_pass grpc://stream; }
    }`;
  if (stream === 'none') return nginx(servers);
  const load = stream === 'static' ? '' : `load_module ${stream.folder}/ngx_stream_module.so;`;
  return `${load}
${nginx(servers)}
stream {
  server { listen 127.0.0.1:${ports.tcp}; proxy_pass 127.0.0.1:${backends.http}; tcp_nodelay on; }
  # The flows of one round must not take the connections of the next one.
  server { listen 127.0.0.1:${ports.udp} udp; proxy_pass 127.0.0.1:${backends.udp}; proxy_timeout 10s; }
}
`;
}

function nginx(servers: string): string {
  return `
daemon off;
master_process off;
pid nginx.pid;
user root;
error_log stderr crit;
events { worker_connections 8192; }
http {
  access_log off;
  keepalive_requests 1000000000;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  ${servers}
}
`;
}

/** As `nginxConfiguration`, without UDP, which HAProxy does not forward. */
export function haproxyConfiguration({ ports, backends, pem }: Setting): string {
  return `
global
  nbthread 1
defaults
  mode http
  timeout client 60s
  timeout server 60s
  timeout connect 5s
  timeout tunnel 60s
  http-reuse always
frontend front
  option forwardfor
  bind 127.0.0.1:${ports.http}
  bind 127.0.0.1:${ports.https} ssl crt ${pem} alpn h2,http/1.1
  use_backend back if { path_beg /shop }
  use_backend socket if { path ${paths.webSocket} }
frontend grpc
  option forwardfor
  bind 127.0.0.1:${ports.grpc} proto h2
  use_backend unary if { path ${paths.unary} }
  use_backend stream if { path ${paths.stream} }
listen tcp
  mode tcp
  bind 127.0.0.1:${ports.tcp}
  server one 127.0.0.1:${backends.http}
backend back
  server one 127.0.0.1:${backends.http}
backend socket
  server one 127.0.0.1:${backends.webSocket}
backend unary
  server one 127.0.0.1:${backends.unary} proto h2
backend stream
  server one 127.0.0.1:${backends.stream} proto h2
`;
}

/** As `nginxConfiguration`, in objects of the Gateway API. */
export function objects({ ports, backends }: Setting, pair: Pair): string {
  const listeners = [
    `{ name: http, port: ${ports.http}, protocol: HTTP }`,
    `{ name: https, port: ${ports.https}, protocol: HTTPS, tls: { certificateRefs: [{ name: tls }] } }`,
    `{ name: grpc, port: ${ports.grpc}, protocol: HTTP }`,
    `{ name: tcp, port: ${ports.tcp}, protocol: TCP }`,
    `{ name: udp, port: ${ports.udp}, protocol: UDP }`,
  ];
  return `${gatewayObjects({ name: 'web', namespace: 'bench' }, ...listeners)}${certificateObject('tls', pair, 'bench')}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: shop, namespace: bench }
spec:
  parentRefs: [{ name: web, sectionName: http }, { name: web, sectionName: https }]
  rules:
    - matches: [{ path: { type: PathPrefix, value: /shop } }]
      backendRefs: [{ name: shop, port: 80 }]
    - matches: [{ path: { type: Exact, value: ${paths.webSocket} } }]
      backendRefs: [{ name: socket, port: 80 }]
---
apiVersion: gateway.networking.k8s.io/v1
kind: GRPCRoute
metadata: { name: calls, namespace: bench }
spec:
  parentRefs: [{ name: web, sectionName: grpc }]
  rules:
    - matches: [{ method: { service: bench.Unary, method: Call } }]
      backendRefs: [{ name: unary, port: 80 }]
    - matches: [{ method: { service: bench.Stream, method: Echo } }]
      backendRefs: [{ name: stream, port: 80 }]
---
apiVersion: gateway.networking.k8s.io/v1
kind: TCPRoute
metadata: { name: bytes, namespace: bench }
spec:
  parentRefs: [{ name: web, sectionName: tcp }]
  rules: [{ backendRefs: [{ name: shop, port: 80 }] }]
---
apiVersion: gateway.networking.k8s.io/v1
kind: UDPRoute
metadata: { name: datagrams, namespace: bench }
spec:
  parentRefs: [{ name: web, sectionName: udp }]
  rules: [{ backendRefs: [{ name: datagrams, port: 80 }] }]
${serviceObjects({ name: 'shop', namespace: 'bench', endpoint: backends.http })}
${serviceObjects({ name: 'socket', namespace: 'bench', endpoint: backends.webSocket })}
${serviceObjects({ name: 'unary', namespace: 'bench', endpoint: backends.unary, appProtocol: 'kubernetes.io/h2c' })}
${serviceObjects({ name: 'stream', namespace: 'bench', endpoint: backends.stream, appProtocol: 'kubernetes.io/h2c' })}
${serviceObjects({ name: 'datagrams', namespace: 'bench', endpoint: backends.udp, protocol: 'UDP' })}`;
}
