import { between, experimental, since, versions } from '../availability.ts';
import { fieldDefaults } from '../field-defaults.ts';
import { boolean, integer, list, object, string } from '../node.ts';
import {
  atomic,
  backendObjectReference,
  fraction,
  headerName,
  headerNames,
  headerValue,
  localObjectReference,
  port,
  preciseHostname,
  token,
} from './common.ts';
import { externalAuth } from './external-auth.ts';

export const headers = list(object({ name: headerName, value: headerValue() }, { required: ['name', 'value'] }), {
  maxItems: 16,
  listType: 'map',
  keys: ['name'],
});

export const headerModifier = object(
  { add: headers, remove: { ...headerNames, maxItems: 16 }, set: headers },
  { semantics: ['headerModifier'] },
);

const replacement = string({ maxLength: 1024, semantics: ['pathReplacement'] });
const path = object(
  {
    replaceFullPath: replacement,
    replacePrefixMatch: replacement,
    type: string({ enum: ['ReplaceFullPath', 'ReplacePrefixMatch'] }),
  },
  { required: ['type'] },
);

/** The first releases that can mirror a part of the requests. */
const mirrorPartSince = { experimental: '1.2', standard: '1.3' } as const;

export const requestMirror = object(
  {
    backendRef: backendObjectReference,
    fraction: since(mirrorPartSince, fraction),
    percent: since(mirrorPartSince, integer({ format: 'int32', minimum: 0, maximum: 100 })),
  },
  { required: ['backendRef'] },
);

const requestRedirect = object({
  hostname: preciseHostname,
  path,
  port,
  scheme: string({ enum: ['http', 'https'] }),
  statusCode: integer({
    default: fieldDefaults.redirectStatus,
    enum: [301, 302, since('1.5', 303), since('1.5', 307), since('1.5', 308)],
  }),
});

/** All methods that a match can specify. */
export const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH'] as const;

const corsSince = { experimental: '1.3', standard: '1.5' } as const;
const originPattern = versions(
  // The regular expression of RFC 3986, appendix B, which any absolute URI matches.
  '^(([^:/?#]+):)(//([^/?#]*))([^?#]*)(\\?([^#]*))?(#(.*))?',
  since('1.4', '(^\\*$)|(^([a-zA-Z][a-zA-Z0-9+\\-.]+):\\/\\/([^:/?#]+)(:([0-9]{1,5}))?$)'),
  since('1.5', '(^\\*$)|(^(http(s)?):\\/\\/(((\\*\\.)?([a-zA-Z0-9\\-]+\\.)*[a-zA-Z0-9-]+|\\*)(:([0-9]{1,5}))?)$)'),
);
const corsHeaders = list(token(), { maxItems: 64, listType: 'set' });
const origin = string({
  maxLength: 253,
  minLength: 1,
  pattern: originPattern,
  form: 'an origin such as https://shop.example.com, or *',
});
const cors = object({
  allowCredentials: boolean({ enum: [between({ experimental: '1.3' }, '1.4', true)] }),
  allowHeaders: corsHeaders,
  allowMethods: list(string({ enum: [...methods, '*'] }), { maxItems: 9, listType: 'set' }),
  allowOrigins: list(origin, { maxItems: 64, listType: 'set' }),
  exposeHeaders: corsHeaders,
  maxAge: integer({ default: fieldDefaults.corsMaxAge, format: 'int32', minimum: 1 }),
});

const filter = object(
  {
    cors: since(corsSince, cors),
    extensionRef: localObjectReference,
    externalAuth: experimental('1.4', externalAuth),
    requestHeaderModifier: headerModifier,
    requestMirror,
    requestRedirect,
    responseHeaderModifier: headerModifier,
    type: string({
      enum: [
        'RequestHeaderModifier',
        'ResponseHeaderModifier',
        'RequestMirror',
        'RequestRedirect',
        'URLRewrite',
        'ExtensionRef',
        since(corsSince, 'CORS'),
        experimental('1.4', 'ExternalAuth'),
      ],
    }),
    urlRewrite: object({ hostname: preciseHostname, path }),
  },
  { required: ['type'] },
);

/** The filters of one route rule or backendRef. */
export const httpFilters = list(filter, { maxItems: 16, listType: atomic, semantics: ['filters'] });
