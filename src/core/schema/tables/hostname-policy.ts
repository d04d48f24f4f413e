import { list, object, string } from '../node.ts';
import { labelSelector, name, namespace, subdomain } from './common.ts';
import { ownGroup, stored, type KindTable } from './table.ts';

// A kind of Sallyport, not of the Gateway API: its schema is the same in all bundles, and its CRD is in deploy.

const maxEntries = 64;

// A character of a segment other than a dot. An encoded dot would be a dot in the spelling of matches.
const notDot = "([A-Za-z0-9\\-_~!$&'()*+,;=:@]|%([013-9A-Fa-f][0-9A-Fa-f]|2[0-9A-DFa-df]))";

// Without `.` and `..`: requests have no such segments when they are matched, so the path would own nothing.
const segment = `(\\.{0,2}${notDot}|\\.\\.\\.)(\\.|${notDot})*`;

/** The characters of a path of an Exact or PathPrefix match, without an empty segment, a dot segment or a final slash. */
const pathPattern = `^(/|(/${segment})+)$`;

const spec = object(
  {
    gateways: list(object({ name, namespace }, { required: ['name', 'namespace'] }), {
      minItems: 1,
      maxItems: maxEntries,
      listType: 'atomic',
    }),
    hostnames: list(
      string({
        maxLength: 253,
        minLength: 1,
        pattern: `^(\\*|(\\*\\.)?${subdomain})$`,
        form: 'a DNS name in lower case, such as shop.example.com or *.example.com, or "*" for every hostname',
      }),
      { minItems: 1, maxItems: maxEntries, listType: 'set' },
    ),
    paths: list(
      string({
        maxLength: 256,
        minLength: 1,
        pattern: pathPattern,
        form: 'a path prefix without a final slash, without "." and ".." segments, such as /cart or /cart/checkout, or "/" for every path',
      }),
      { minItems: 1, maxItems: maxEntries, listType: 'set' },
    ),
    namespaces: object(
      { names: list(namespace, { minItems: 1, maxItems: maxEntries, listType: 'set' }), selector: labelSelector },
      { minProperties: 1 },
    ),
  },
  { required: ['hostnames', 'namespaces'] },
);

const body = object({ spec }, { required: ['spec'] });

export const hostnamePolicy: KindTable<typeof body> = {
  group: ownGroup,
  kind: 'HostnamePolicy',
  plural: 'hostnamepolicies',
  namespaced: false,
  versions: [stored('v1alpha1')],
  body,
};
