import { constants } from 'node:crypto';
import { DEFAULT_CIPHERS } from 'node:tls';

/**
 * Settings of all TLS connections of clients and backends. Renegotiation would let the other side repeat the expensive part of a
 * handshake without limit, and is not needed. Without elliptic curves, the Diffie-Hellman key exchange of TLS 1.2 lets a server choose the
 * group: one of 10,000 bits takes a client a second in one step, before anything is verified.
 */
export const tlsPolicy = {
  minVersion: 'TLSv1.2',
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  ciphers: `${DEFAULT_CIPHERS}:!kDHE`,
} as const;
