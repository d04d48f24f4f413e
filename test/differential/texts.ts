/**
 * Texts that some pattern, enum or rule of some CRD takes or just does not take. Generated objects are made of these,
 * chosen by the schema of the place or, for mutations, at random.
 */
export const texts: readonly string[] = [
  // Names, labels, groups and kinds.
  'a', 'b', 'shop', 'cart-1', 'A', 'Cart', '-a', 'a-', 'a_b', 'a.b', '.a', 'a.', 'a..b', '1', 'ü', '',
  'gateway.networking.k8s.io', 'gateway.networking.x-k8s.io', 'certificates.k8s.io', 'example.com', 'Example.com',
  'Gateway', 'ListenerSet', 'Service', 'XBackend', 'ConfigMap', 'Secret', 'ClusterTrustBundle', 'HTTPRoute',
  'a'.repeat(63), 'a'.repeat(64), 'a'.repeat(253), 'a'.repeat(254), 'a'.repeat(1024), 'a'.repeat(1025), 'a'.repeat(4097),
  `${'a'.repeat(253)}/a`, `${'a'.repeat(252)}/a`, `${'a'.repeat(63)}.${'b'.repeat(63)}`, `a/${'b'.repeat(63)}`, `a/${'b'.repeat(64)}`,
  'example.com/a', 'example.com/A_b.c', 'example.com/', '/a', 'a/b/c', 'example.com/a/b', 'k8s.io/a', 'a.k8s.io/b', 'Cluster', 'example.com//', 'example.com/a\nb',
  // Hostnames and addresses.
  '*', '*.example.com', '*.a', '*.*.a', 'a.*.b', '**.a', '*a.b', '192.0.2.1', '192.0.2.2', '256.1.1.1', '01.2.3.4', '1.2.3', '*.192.0.2.1',
  '2001:db8::1', '2001:DB8::1', '::', '::ffff:192.0.2.1', '::ffff:192.0.2.01', 'fe80::1%eth0', '1:2:3:4:5:6:7', 'cart.cluster.local', 'cluster.local', 'a.cluster.local.b',
  'IPAddress', 'Hostname', 'NamedAddress', 'HostnameX', 'XIPAddressX',
  // Protocols, modes and other enums.
  'HTTP', 'HTTPS', 'TLS', 'TCP', 'UDP', 'GRPC', 'H2C', 'HTTP2', 'WSS', 'http', 'example.com/quic', 'Terminate', 'Passthrough', 'All', 'None', 'System', 'Enabled', 'Disabled',
  'Exact', 'PathPrefix', 'RegularExpression', 'GET', 'Cookie', 'Header', 'Permanent',
  // Durations.
  '0s', '0h0m', '1ms', '999ms', '1s', '1000ms', '10s', '1m', '90s', '1h', '3600s', '60m1ms', '61m', '2h', '99999h', '1h1h1h1h', '1h1h1h1h1h', '100000h', '1.5s', '-1s', '10', 's',
  // Paths.
  '/', '/a', '/a/b', '//', '/a//b', '/./', '/a/./b', '/../', '/a/..', '/a/.', '/a/...', '/%2F', '/%2f', '/%20', '/%zz', '/%', '/a#b', '/a?b', '/a b', '/ü', '/~a-_.!$&\'()*+,;=:@', '/{a}', '/a\n',
  // Header names and values, origins and URIs.
  'x-team', 'X-Team', 'x team', 'x:team', '`', 'a b', 'a  b', ' a', 'a ', 'a\tb', 'a\r\nb', '\u0000', 'a\u007f',
  'https://a.example', 'http://*', 'https://*.a.example:8443', 'https://a.example:99999', 'https://a.example:100000', 'ftp://a', 'https://', 'https://a/b', 'spiffe://example.com/a', 'a:b', ':a', 'http://[::1]',
  // gRPC services and methods, keys of telemetry.
  'shop.v1.Cart', '.shop.Cart', 'shop..Cart', 'AddItem', 'add-item', '_a', '1a', '\u212Aart', 'http.request.method', 'HTTP.method', 'GET /cart', 'GET  /cart',
  '2026-01-31T12:00:00Z', 'yesterday',
];
