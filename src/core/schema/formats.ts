import type { Format } from 'ajv';

const maximumInt32 = 2 ** 31;
const octet = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const ipv4 = new RegExp(`^${octet}(?:\\.${octet}){3}$`);
/** The API server still accepts leading zeros, as Go once did. */
const sloppyIpv4 = new RegExp(`^0*${octet}(?:\\.0*${octet}){3}$`);
const hexGroup = /^[0-9A-Fa-f]{1,4}$/;
const dateTime =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[Tt](?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})$/;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The formats used in the schemas, as implemented by the API server. All take linear time. */
export const formats = {
  int32: { type: 'number', validate: (value: number) => value >= -maximumInt32 && value < maximumInt32 },
  // Larger JSON numbers lose digits when they are parsed.
  int64: { type: 'number', validate: (value: number) => Number.isSafeInteger(value) },
  'date-time': { type: 'string', validate: (value: string) => dateTime.test(value) },
  byte: { type: 'string', validate: (value: string) => base64.test(value) },
  ipv4: {
    type: 'string',
    validate: (value: string) => sloppyIpv4.test(value) || (value.includes('.') && isIpv6(value, sloppyIpv4)),
  },
  ipv6: { type: 'string', validate: (value: string) => isIpv6(value, ipv4) },
} as const satisfies Record<string, Format>;

/** RFC 4291 section 2.2, without zone. `tail` matches a trailing IPv4 address. */
function isIpv6(text: string, tail: RegExp): boolean {
  if (text.length > 255) return false;
  const lastColon = text.lastIndexOf(':');
  const end = text.slice(lastColon + 1);
  // A trailing IPv4 address replaces two groups.
  const plain = tail.test(end) ? `${text.slice(0, lastColon + 1)}0:0` : text;
  const halves = plain.split('::').map((half) => (half === '' ? [] : half.split(':')));
  const groups = halves.flat();
  const complete = halves.length === 1 ? groups.length === 8 : halves.length === 2 && groups.length < 8;
  return complete && groups.every((group) => hexGroup.test(group));
}
