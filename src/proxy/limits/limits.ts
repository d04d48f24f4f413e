/** Limits of what clients and backends can make the proxy hold or wait for. Times are in milliseconds, sizes in bytes. */
export interface ProxyLimits {
  /** From the connection to its first byte. */
  readonly firstByteTimeout: number;
  readonly tlsHandshakeTimeout: number;
  /** From the connection to the end of its PROXY header. */
  readonly proxyHeaderTimeout: number;
  /** Size of the PROXY header in version 2. */
  readonly proxyHeaderBytes: number;
  /** From the first byte of a request to the end of its header section. */
  readonly headerTimeout: number;
  /** Time for which a client may stall in the middle of a request or response body. */
  readonly stallTimeout: number;
  /** Time for which a backend may not read the request body while the client has to wait for it. */
  readonly backendStallTimeout: number;
  /** Time for which a persistent connection may be idle between requests. */
  readonly idleTimeout: number;
  /** Interval at which header and idle timeouts are checked. */
  readonly checkInterval: number;
  /** Request line and header section together. */
  readonly headerBytes: number;
  readonly headerCount: number;
  readonly targetBytes: number;
  /** Bytes read from an HTTP/1 connection before the previous response is done; one more read is possible. */
  readonly aheadBytes: number;
  /**
   * Time for which the connection is then not read. Afterwards requests sent ahead are dropped, and the connection ends
   * with the response.
   */
  readonly aheadTimeout: number;
  readonly connectionsPerPort: number;
  /** Connections of all clients on all ports. */
  readonly connections: number;
  /** Connections of one client address. */
  readonly connectionsPerClient: number;
  /** Concurrent TLS handshakes of all ports; beyond it the oldest one of the client with most of them ends. */
  readonly handshakes: number;
  /** Concurrent requests in total. */
  readonly requests: number;
  /** Requests that wait for a backend connection, in total and per endpoint, and the time for which each may wait. */
  readonly waiting: number;
  readonly waitingPerEndpoint: number;
  readonly waitTimeout: number;
  /** WebSockets and other connections that have switched protocols, and the time for which they may be silent in both directions. */
  readonly tunnels: number;
  readonly tunnelIdleTimeout: number;
  /** The same for a tunnel that is closed in one direction. */
  readonly tunnelHalfClosedTimeout: number;
  /** Concurrent mirror copies of requests. */
  readonly mirrors: number;
  /** Requests that wait for a retry. */
  readonly retries: number;
  /** Buffered bytes in total: of requests, responses, tunnels, mirror copies, and layer 4 connections. */
  readonly bufferedBytes: number;
  /** Concurrent requests of one HTTP/2 connection. */
  readonly streamsPerConnection: number;
  /** Bytes in transit to the proxy, or buffered in it, for one HTTP/2 stream with a slow receiver. */
  readonly streamWindow: number;
  readonly connectTimeout: number;
  /** Until a backend whose responses do not fit to the negotiated version of HTTP is asked again for its version. */
  readonly renegotiationInterval: number;
  readonly connectionsPerEndpoint: number;
  /** Requests of one HTTP/2 connection to a backend before a new connection replaces it. */
  readonly requestsPerBackendConnection: number;
  /** Timeout of an authorization server, if the rule has no `backendRequest` timeout. */
  readonly authorizationTimeout: number;
  /** Size of an authorization response body. */
  readonly authorizationAnswerBytes: number;
  /** Request bodies that wait for authorization, and bodies of authorization responses, in total. */
  readonly authorizationBytes: number;
  /** Time for which requests of a removed port may continue. */
  readonly drainTimeout: number;
  /** Interim responses (1xx) of a backend to one request, and the size of their fields together. */
  readonly interimResponses: number;
  readonly interimBytes: number;
  /** Endpoints tried for one request or layer 4 connection while nothing has been sent. */
  readonly attempts: number;
  /** Time for which a connection of a TCPRoute or TLSRoute may be silent in both directions. */
  readonly tcpIdleTimeout: number;
  /** The same for a connection that is closed in one direction. */
  readonly tcpHalfClosedTimeout: number;
  /** Size of the ClientHello of a connection to a TLS listener, including record headers. */
  readonly helloBytes: number;
  /** Time for which a flow of a UDPRoute may be silent in both directions. */
  readonly udpIdleTimeout: number;
  /** Flows of all clients on all ports; beyond it the flow that has been idle longest ends. */
  readonly udpFlows: number;
  /** Flows of one client address, with the same eviction. */
  readonly udpFlowsPerClient: number;
  /** Bytes of datagrams that wait to be sent on one socket. */
  readonly udpQueueBytes: number;
  /** Time between two lookups of the name of an external backend, whatever its TTL. */
  readonly nameRefreshMin: number;
  readonly nameRefreshMax: number;
  /** Time for which a DNS server may not answer. */
  readonly nameTimeout: number;
  /** Time for which a change of the configuration waits for new names. */
  readonly namePreparation: number;
  /** Concurrent lookups of names. Names without an answer last time use at most half of them. */
  readonly nameLookups: number;
  /** Addresses of a name that are used. */
  readonly nameAddresses: number;
}

export const defaultLimits: ProxyLimits = {
  firstByteTimeout: 10_000,
  tlsHandshakeTimeout: 10_000,
  proxyHeaderTimeout: 10_000,
  proxyHeaderBytes: 4 * 1024,
  headerTimeout: 20_000,
  stallTimeout: 60_000,
  backendStallTimeout: 60_000,
  idleTimeout: 75_000,
  checkInterval: 5_000,
  headerBytes: 32 * 1024,
  headerCount: 200,
  targetBytes: 8 * 1024,
  aheadBytes: 16 * 1024,
  aheadTimeout: 10_000,
  connectionsPerPort: 16_384,
  connections: 8_192,
  connectionsPerClient: 2_048,
  handshakes: 1_024,
  requests: 8_192,
  waiting: 8_192,
  waitingPerEndpoint: 1_024,
  waitTimeout: 10_000,
  tunnels: 4_096,
  tunnelIdleTimeout: 600_000,
  tunnelHalfClosedTimeout: 10_000,
  mirrors: 256,
  retries: 1_024,
  bufferedBytes: 64 * 1024 * 1024,
  streamsPerConnection: 128,
  streamWindow: 256 * 1024,
  connectTimeout: 5_000,
  renegotiationInterval: 5_000,
  connectionsPerEndpoint: 512,
  requestsPerBackendConnection: 1_000_000,
  authorizationTimeout: 10_000,
  authorizationAnswerBytes: 256 * 1024,
  authorizationBytes: 64 * 1024 * 1024,
  drainTimeout: 60_000,
  interimResponses: 32,
  interimBytes: 64 * 1024,
  attempts: 3,
  tcpIdleTimeout: 3_600_000,
  tcpHalfClosedTimeout: 600_000,
  helloBytes: 32 * 1024,
  udpIdleTimeout: 60_000,
  udpFlows: 8_192,
  udpFlowsPerClient: 2_048,
  udpQueueBytes: 1024 * 1024,
  nameRefreshMin: 5_000,
  nameRefreshMax: 300_000,
  nameTimeout: 2_000,
  namePreparation: 250,
  nameLookups: 128,
  nameAddresses: 32,
};
