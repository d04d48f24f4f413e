import { hostnameIsIp } from '../hostnames/hostname-is-ip.ts';
import { hostnameLabelTooLong } from '../hostnames/hostname-label-too-long.ts';
import { cookiePathRelative } from '../sessions/cookie-path-relative.ts';
import { cookiePathSafe } from '../sessions/cookie-path-unsafe.ts';
import { sessionEndsAtOnce } from '../sessions/session-ends-at-once.ts';
import { sessionNameToken, sessionNameUnreserved } from '../sessions/session-name-reserved.ts';
import { sessionNameVisible } from '../sessions/sessions.ts';
import { altNameUri } from '../tls/alt-name-uri.ts';
import { altNameWithoutHostname } from '../tls/alt-name-without-hostname.ts';
import { backendSeveralAuthorities } from '../tls/backend-several-authorities.ts';

// Demands on parts that several kinds have, with paths relative to the part.

export const sessions = {
  '': [sessionEndsAtOnce, sessionNameUnreserved],
  sessionName: [sessionNameVisible, sessionNameToken],
  'cookie.path': [cookiePathSafe, cookiePathRelative],
};

/** The validation of a backend's certificate. */
export const validation = {
  '': [altNameWithoutHostname],
  hostname: [hostnameIsIp, hostnameLabelTooLong],
  caCertificateRefs: [backendSeveralAuthorities],
  'subjectAltNames[]': [altNameUri],
  'subjectAltNames[].hostname': [hostnameIsIp, hostnameLabelTooLong],
};
