import { headerKey } from '../text/header.ts';
import type { Resource } from '../resources/resource.ts';
import type { HeaderFilter, NamedValue, PathModifier, RouteFilter } from './config.ts';

type RuleView = NonNullable<NonNullable<Resource<'HTTPRoute'>['spec']>['rules']>[number];
type FilterViews = RuleView['filters'];
type FilterView = NonNullable<FilterViews>[number];

/** The filters of a rule in order. Types that are not served have made the rule fail before and are left out here. */
export function compileFilters(filters: FilterViews): readonly RouteFilter[] {
  return (filters ?? []).flatMap((filter) => compileFilter(filter));
}

/** The filters of a backendRef: header modifiers, the only ones that are served there. */
export function compileHeaderFilters(filters: FilterViews): readonly HeaderFilter[] {
  return compileFilters(filters).filter((filter): filter is HeaderFilter => filter.type === 'requestHeaders' || filter.type === 'responseHeaders');
}

function compileFilter(filter: FilterView): readonly RouteFilter[] {
  switch (filter.type) {
    case 'RequestHeaderModifier':
      return [headerFilter('requestHeaders', filter.requestHeaderModifier)];
    case 'ResponseHeaderModifier':
      return [headerFilter('responseHeaders', filter.responseHeaderModifier)];
    case 'RequestRedirect': {
      const { scheme, hostname, path, port, statusCode } = filter.requestRedirect ?? {};
      const modifier = pathModifier(path);
      return [
        {
          type: 'redirect',
          ...(scheme === undefined ? {} : { scheme }),
          ...(hostname === undefined ? {} : { hostname }),
          ...(modifier === undefined ? {} : { path: modifier }),
          ...(port === undefined ? {} : { port }),
          statusCode: statusCode ?? 302,
        },
      ];
    }
    case 'URLRewrite': {
      const { hostname, path } = filter.urlRewrite ?? {};
      const modifier = pathModifier(path);
      return [{ type: 'rewrite', ...(hostname === undefined ? {} : { hostname }), ...(modifier === undefined ? {} : { path: modifier }) }];
    }
    case undefined:
    default:
      return [];
  }
}

type HeaderModifierView = FilterView['requestHeaderModifier'];

function headerFilter(type: HeaderFilter['type'], view: HeaderModifierView): HeaderFilter {
  return { type, set: namedValues(view?.set), add: namedValues(view?.add), remove: view?.remove ?? [] };
}

/** Only the first entry with an equivalent name counts (HTTPHeader.name). */
function namedValues(views: NonNullable<HeaderModifierView>['set']): readonly NamedValue[] {
  const first = new Map<string, NamedValue>();
  for (const { name = '', value = '' } of views ?? []) {
    const key = headerKey(name);
    if (!first.has(key)) first.set(key, { name, value });
  }
  return [...first.values()];
}

interface PathModifierView {
  readonly type?: string;
  readonly replaceFullPath?: string;
  readonly replacePrefixMatch?: string;
}

function pathModifier(view: PathModifierView | undefined): PathModifier | undefined {
  if (view?.type === 'ReplaceFullPath') return { type: 'full', value: view.replaceFullPath ?? '' };
  if (view?.type === 'ReplacePrefixMatch') return { type: 'prefix', value: view.replacePrefixMatch ?? '' };
  return undefined;
}
