import { deniedWhenStrict } from '../engine/effects.ts';
import { hostnameRule } from './hostnames.ts';

/** DNS servers cannot store such a name, so no client can resolve it. */
export const hostnameLabelTooLong = hostnameRule('label-too-long', {
  id: 'hostname-label-too-long',
  summary: 'A label of a hostname has more than 63 characters.',
  effect: deniedWhenStrict,
  source: 'Gateway API v1.7.0, Hostname; RFC 1123 section 2.1, RFC 1035 section 2.3.4',
});
