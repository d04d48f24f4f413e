import { constants } from 'node:crypto';

/**
 * Settings of all TLS connections of clients and backends. Renegotiation would let the other side repeat the expensive part of a
 * handshake without limit, and is not needed.
 */
export const tlsPolicy = { minVersion: 'TLSv1.2', secureOptions: constants.SSL_OP_NO_RENEGOTIATION } as const;
