import { between, experimental, since, until } from '../../schema/index.ts';
import { servicePort } from '../backends/service-port-missing.ts';
import { cookieConfigEnds, cookieEnds } from '../sessions/session-without-end.ts';
import { cookieConfigMember, externalAuthMember, sessionMember } from '../objects/union-member.ts';
import { backendWithoutPort } from '../backends/backend-port-forbidden.ts';
import { below, merge } from './sites.ts';

// Demands on parts that several kinds have, with paths relative to the part.

export const backendRef = { '': [servicePort, experimental('1.7', backendWithoutPort)] };

export const externalAuth = merge({ '': [externalAuthMember] }, below(['backendRef'], backendRef));

export const sessionPersistence = {
  '': [
    until('1.7', cookieConfigEnds),
    between({ experimental: '1.5' }, '1.7', cookieConfigMember),
    since('1.7', cookieEnds),
    since('1.7', sessionMember),
  ],
};
