import { demand, specificationRule, type Demand } from '../engine/demand.ts';

export const corsWildcard = specificationRule({
  id: 'cors-wildcard',
  summary: 'A CORS list has "*" and other values.',
  source:
    'Gateway API v1.7.0, HTTPCORSFilter.allowOrigins, .allowMethods and .allowHeaders (the wildcard stands alone)',
});

function wildcardAlone(variant: string): Demand<readonly string[]> {
  return demand(
    corsWildcard,
    function judge(values, report) {
      const wildcard = values.indexOf('*');
      if (wildcard === -1 || values.length === 1) return;
      report({
        below: [wildcard],
        value: '*',
        message: `"*" allows everything, so the other values of the list are ignored. Use "*" alone, or remove it and list the ${variant}.`,
      });
    },
    variant,
  );
}

export const lonelyOrigin = wildcardAlone('origins');
export const lonelyMethod = wildcardAlone('methods');
export const lonelyHeader = wildcardAlone('headers');
