/** Bounds on what clients and backends can make the proxy hold or wait for. Times are milliseconds, sizes bytes. */
export interface ProxyLimits {
  /** How long a new connection may stay silent before its first byte. */
  readonly firstByteTimeout: number;
  readonly tlsHandshakeTimeout: number;
  /** How long the PROXY header of a new connection may take. */
  readonly proxyHeaderTimeout: number;
  /** Its bytes in version 2. */
  readonly proxyHeaderBytes: number;
  /** From the first byte of a request to the end of its header section. */
  readonly headerTimeout: number;
  /** How long a client may stall in the middle of a body, its own or the one it is being sent. */
  readonly stallTimeout: number;
  /** How long a backend may take nothing of a request's body while the client has to wait for that. */
  readonly backendStallTimeout: number;
  /** How long a kept-alive connection may stay idle between requests. */
  readonly idleTimeout: number;
  /** How often the two header and idle times are looked at. */
  readonly checkInterval: number;
  /** Request line and header section together. */
  readonly headerBytes: number;
  readonly headerCount: number;
  readonly targetBytes: number;
  /** What is read of an HTTP/1 connection before the response to an earlier request is done; one read may come on top. */
  readonly aheadBytes: number;
  /** How long the connection is not read for that; then what was sent ahead is dropped, and the connection ends with the response. */
  readonly aheadTimeout: number;
  readonly connectionsPerPort: number;
  /** Connections of all clients on all ports. */
  readonly connections: number;
  /** Connections of one client address. */
  readonly connectionsPerClient: number;
  /** TLS handshakes under way on one port: beyond it the oldest one ends. */
  readonly handshakes: number;
  /** Requests under way in all. */
  readonly requests: number;
  /** Requests that wait for a connection to a backend, in all and for one endpoint, and how long each may wait. */
  readonly waiting: number;
  readonly waitingPerEndpoint: number;
  readonly waitTimeout: number;
  /** WebSockets and other connections that have switched protocols, and how long they may be silent in both directions. */
  readonly tunnels: number;
  readonly tunnelIdleTimeout: number;
  /** The same for one that is closed in one direction. */
  readonly tunnelHalfClosedTimeout: number;
  /** Copies of requests for mirrors under way. */
  readonly mirrors: number;
  /** Requests that wait for another try. */
  readonly retries: number;
  /** Bytes that wait in all: of requests, responses, tunnels, copies for mirrors, and connections of layer 4. */
  readonly bufferedBytes: number;
  /** Requests at the same time on one HTTP/2 connection. */
  readonly streamsPerConnection: number;
  /** What may be on its way to the proxy, or wait in it, for one HTTP/2 stream whose receiver is slow. */
  readonly streamWindow: number;
  readonly connectTimeout: number;
  readonly connectionsPerEndpoint: number;
  /** Requests that an HTTP/2 connection to a backend carries before another one takes its place. */
  readonly requestsPerBackendConnection: number;
  /** How long an authorization server may take to answer, where the rule has no `backendRequest` timeout. */
  readonly authorizationTimeout: number;
  /** The body of its answer. */
  readonly authorizationAnswerBytes: number;
  /** Bodies of requests that wait to be authorized, and of answers of authorization servers, in all. */
  readonly authorizationBytes: number;
  /** How long requests of a removed port may still take. */
  readonly drainTimeout: number;
  /** Interim responses (1xx) of a backend to one request, and their fields together. */
  readonly interimResponses: number;
  readonly interimBytes: number;
  /** Endpoints tried for one request, or one connection of layer 4, while nothing has been sent yet. */
  readonly attempts: number;
  /** How long a connection of a TCPRoute or TLSRoute may be silent in both directions. */
  readonly tcpIdleTimeout: number;
  /** The same for one that is closed in one direction. */
  readonly tcpHalfClosedTimeout: number;
  /** The ClientHello of a connection to a TLS listener, with the headers of its records. */
  readonly helloBytes: number;
  /** How long a flow of a UDPRoute may be silent in both directions. */
  readonly udpIdleTimeout: number;
  /** Flows of all clients on all ports: beyond it the one that has been silent longest ends. */
  readonly udpFlows: number;
  /** Flows of one client address, in the same way. */
  readonly udpFlowsPerClient: number;
  /** Bytes of datagrams that wait to be sent on one socket. */
  readonly udpQueueBytes: number;
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
  requests: 16_384,
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
};
