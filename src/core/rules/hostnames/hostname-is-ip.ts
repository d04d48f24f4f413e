import { deniedWhenStrict } from '../engine/effects.ts';
import { hostnameRule } from './hostnames.ts';

/** All CRDs except for that of TLSRoute accept IPv4 addresses as hostnames, and some users rely on it. */
export const hostnameIsIp = hostnameRule('ip-address', {
  id: 'hostname-is-ip',
  summary: 'A hostname is an IP address.',
  effect: deniedWhenStrict,
  source: 'Gateway API v1.7.0, Hostname and PreciseHostname ("IPs are not allowed"); RFC 1123 section 2.1',
});
