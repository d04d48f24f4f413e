import { experimental } from '../availability.ts';
import { boolean, integer, list, object, string } from '../node.ts';
import {
  backendObjectReference, headerName, headerNames, headerValue, localObjectReference, port, preciseHostname, token,
} from './common.ts';
import { externalAuth } from './external-auth.ts';

const headers = list(
  object({ name: headerName, value: headerValue() }, { required: ['name', 'value'] }),
  { maxItems: 16, listType: 'map', keys: ['name'] },
);

export const headerModifier = object(
  { add: headers, remove: { ...headerNames, maxItems: 16 }, set: headers },
  { semantics: ['headerModifier'] },
);

const replacement = string({ maxLength: 1024, semantics: ['pathReplacement'] });
const path = object({
  replaceFullPath: replacement,
  replacePrefixMatch: replacement,
  type: string({ enum: ['ReplaceFullPath', 'ReplacePrefixMatch'] }),
}, { required: ['type'] });

const requestMirror = object({
  backendRef: backendObjectReference,
  fraction: object({
    denominator: integer({ default: 100, format: 'int32', minimum: 1 }),
    numerator: integer({ format: 'int32', minimum: 0 }),
  }, { required: ['numerator'] }),
  percent: integer({ format: 'int32', minimum: 0, maximum: 100 }),
}, { required: ['backendRef'] });

const requestRedirect = object({
  hostname: preciseHostname,
  path,
  port,
  scheme: string({ enum: ['http', 'https'] }),
  statusCode: integer({ default: 302, enum: [301, 302, 303, 307, 308] }),
});

/** Every method that a match may name. */
export const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH'] as const;

const originPattern = '(^\\*$)|(^(http(s)?):\\/\\/(((\\*\\.)?([a-zA-Z0-9\\-]+\\.)*[a-zA-Z0-9-]+|\\*)(:([0-9]{1,5}))?)$)';
const corsHeaders = list(token(), { maxItems: 64, listType: 'set' });
const origin = string({
  maxLength: 253, minLength: 1, pattern: originPattern, form: 'an origin such as https://shop.example.com, or *',
});
const cors = object({
  allowCredentials: boolean(),
  allowHeaders: corsHeaders,
  allowMethods: list(string({ enum: [...methods, '*'] }), { maxItems: 9, listType: 'set' }),
  allowOrigins: list(origin, { maxItems: 64, listType: 'set' }),
  exposeHeaders: corsHeaders,
  maxAge: integer({ default: 5, format: 'int32', minimum: 1 }),
});

const filter = object({
  cors,
  extensionRef: localObjectReference,
  externalAuth: experimental('1.4', externalAuth),
  requestHeaderModifier: headerModifier,
  requestMirror,
  requestRedirect,
  responseHeaderModifier: headerModifier,
  type: string({
    enum: [
      'RequestHeaderModifier', 'ResponseHeaderModifier', 'RequestMirror', 'RequestRedirect', 'URLRewrite',
      'ExtensionRef', 'CORS', experimental('1.4', 'ExternalAuth'),
    ],
  }),
  urlRewrite: object({ hostname: preciseHostname, path }),
}, { required: ['type'] });

/** What is done to the requests of one route rule, or of one of its backends. */
export const httpFilters = list(filter, { maxItems: 16, listType: 'atomic', semantics: ['filters'] });
