import { display, quote } from '../../text/display.ts';
import { controlCharacter } from '../../text/header.ts';
import { demand } from '../engine/demand.ts';
import { controlCharacterInValue } from '../headers/control-character-in-value.ts';

// Session persistence: the cookie or header that assigns a client to a backend.

export interface Session {
  readonly type?: string;
  readonly absoluteTimeout?: string;
  readonly sessionName?: string;
  readonly cookie?: { readonly name?: string; readonly path?: string };
  readonly header?: { readonly name?: string };
}

/** Returns the name of the cookie or header, and its location. */
export function nameOf({
  type = 'Cookie',
  sessionName,
  cookie,
  header,
}: Session): { readonly name: string; readonly below: readonly string[] } | undefined {
  const [member, settings] = type === 'Header' ? (['header', header] as const) : (['cookie', cookie] as const);
  if (settings?.name !== undefined) return { name: settings.name, below: [member, 'name'] };
  return sessionName === undefined ? undefined : { name: sessionName, below: ['sessionName'] };
}

/** Before v1.7, the schema did not restrict the characters of a name. */
export const sessionNameVisible = demand(
  controlCharacterInValue,
  function judge(name: string, report) {
    const found = controlCharacter(name);
    if (found !== undefined)
      report({
        below: [],
        value: display(name),
        message: `Invalid cookie or header name ${quote(name)}: it contains the control character ${found}. Remove it.`,
      });
  },
  'sessionName',
);
