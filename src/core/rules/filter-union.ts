import { visitSemantic } from '../schema/index.ts';
import type { Path } from '../resources/path.ts';
import { isReadable, type ResourceFrame } from '../resources/resource.ts';
import { denied } from './effects.ts';
import { unsupportedValueAt } from './parts.ts';
import { rule, type Report } from './rule.ts';

/** Which member carries the settings of which type. */
type Union = ReadonlyMap<string, string>;

const filterMembers: Union = new Map([
  ['RequestHeaderModifier', 'requestHeaderModifier'],
  ['ResponseHeaderModifier', 'responseHeaderModifier'],
  ['RequestMirror', 'requestMirror'],
  ['RequestRedirect', 'requestRedirect'],
  ['URLRewrite', 'urlRewrite'],
  ['CORS', 'cors'],
  ['ExternalAuth', 'externalAuth'],
  ['ExtensionRef', 'extensionRef'],
]);

const pathModifierMembers: Union = new Map([
  ['ReplaceFullPath', 'replaceFullPath'],
  ['ReplacePrefixMatch', 'replacePrefixMatch'],
]);

export const filterUnion = rule({
  id: 'filter-union',
  kinds: ['HTTPRoute', 'Gateway'],
  summary: 'The type of a filter or path modifier and the field that is set do not agree.',
  effect: denied,
  consequence: { condition: 'Accepted', reason: 'UnsupportedValue', scope: 'rule' },
  source: 'Gateway API v1.7.0, HTTPRouteFilter.type, HTTPPathModifier.type and ListenerFilter.type (unions)',
  check(subject, _read, report) {
    visitSemantic(subject.kind, subject, 'filters', (path, filters) => {
      for (const [index, filter] of filters.entries()) {
        const at = [...path, index];
        checkUnion(filterMembers, { subject, path: at, object: filter }, report);
        for (const member of ['requestRedirect', 'urlRewrite'] as const) {
          const modifier = filter[member]?.path;
          if (modifier !== undefined) checkUnion(pathModifierMembers, { subject, path: [...at, member, 'path'], object: modifier }, report);
        }
      }
    });
  },
});

interface UnionPlace {
  readonly subject: ResourceFrame;
  readonly path: Path;
  readonly object: { readonly type?: string };
}

/** An unknown type is the concern of another rule: nobody knows its member. */
function checkUnion(union: Union, { subject, path, object }: UnionPlace, report: Report): void {
  const type = object.type ?? '';
  const wanted = union.get(type);
  if (wanted === undefined) return;
  const consequence = unsupportedValueAt(path);
  const others = [...union].filter(([, member]) => member !== wanted && Object.hasOwn(object, member));
  const isMissing = !Object.hasOwn(object, wanted) && isReadable(subject, [...path, wanted]);
  const [other] = others;
  if (isMissing && other !== undefined) {
    report({ path: [...path, 'type'], value: type, consequence, message: `The type is ${type}, but ${other[1]} is set. Write type: ${other[0]}, or replace ${other[1]} by ${wanted}.` });
  } else if (isMissing) {
    report({ path: [...path, wanted], consequence, message: `The type is ${type}, but ${wanted} is missing. Write ${wanted} beside type.` });
  }
  for (const [otherType, member] of isMissing ? [] : others) {
    report({ path: [...path, member], consequence, message: `${member} is set although the type is ${type}. Remove ${member}; what it does needs type: ${otherType}.` });
  }
}
