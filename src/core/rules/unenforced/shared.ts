import { hostnameIsIp, hostnameLabelTooLong } from '../hostnames/hostnames.ts';
import type { Sites } from '../official/sites.ts';
import { cookiePathRelative, cookiePathUnsafe, sessionEndsAtOnce, sessionNameReserved, sessionNameToken, sessionNameVisible } from '../sessions/sessions.ts';
import { altNameUri, altNameWithoutHostname, backendSeveralAuthorities } from '../tls/backend-tls-details.ts';

// What is looked at in parts that several kinds have, from the part on.

export const sessions: Sites = {
  '': [sessionEndsAtOnce, sessionNameReserved],
  sessionName: [sessionNameVisible, sessionNameToken],
  'cookie.path': [cookiePathUnsafe, cookiePathRelative],
};

/** How the certificate of a backend is checked. */
export const validation: Sites = {
  '': [altNameWithoutHostname],
  hostname: [hostnameIsIp, hostnameLabelTooLong],
  caCertificateRefs: [backendSeveralAuthorities],
  'subjectAltNames[]': [altNameUri],
  'subjectAltNames[].hostname': [hostnameIsIp, hostnameLabelTooLong],
};
