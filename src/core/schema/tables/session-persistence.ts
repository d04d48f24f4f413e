import { since, until } from '../availability.ts';
import { fieldDefaults } from '../field-defaults.ts';
import { object, string } from '../node.ts';
import { duration, token } from './common.ts';

const name = token();
const lifetimeType = string({ default: fieldDefaults.session.lifetimeType, enum: ['Permanent', 'Session'] });

/** Sends the requests of one client to the same backend (GEP-1619). Since v1.7, cookie and header have separate objects. */
export const sessionPersistence = object({
  absoluteTimeout: duration,
  cookie: since(
    '1.7',
    object({ lifetimeType, name, path: string({ default: fieldDefaults.session.cookiePath, maxLength: 1024 }) }),
  ),
  cookieConfig: until('1.7', object({ lifetimeType }, { instead: since('1.7', 'cookie') })),
  header: since('1.7', object({ name }, { required: ['name'] })),
  idleTimeout: until('1.6', duration),
  sessionName: until('1.7', string({ maxLength: 128, instead: since('1.7', 'cookie.name and header.name') })),
  type: string({ default: fieldDefaults.session.type, enum: ['Cookie', 'Header'] }),
});
