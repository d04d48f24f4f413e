import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { quote } from '../../src/core/text/display.ts';
import { formatDuration, isStandardForm, parseDuration } from '../../src/core/text/duration.ts';
import {
  hostFromHeader,
  hostnameMatches,
  hostnameProblems,
  intersectHostnames,
  preciseHostnameProblems,
} from '../../src/core/text/hostname.ts';
import { hasPathPrefix, normalizePath, pathProblems, replacePathPrefix } from '../../src/core/text/path.ts';
import { compilePattern } from '../../src/core/patterns/pattern.ts';
import { selectorMatches, selectorProblems } from '../../src/core/text/selector.ts';
import { nearest } from '../../src/core/text/suggest.ts';

// Texts near the grammars under test are far likelier to find something than any text.
const nearly = (alphabet: string) =>
  fc.oneof(fc.string({ unit: fc.constantFrom(...Array.from(alphabet)) }), fc.string({ unit: 'binary' }));

describe('durations', () => {
  // The grammar as GEP-2257 states it.
  const grammar = /^(?:[0-9]{1,5}(?:ms|h|m|s)){1,4}$/;
  const component = fc
    .tuple(fc.stringMatching(/^[0-9]{1,5}$/), fc.constantFrom('h', 'm', 's', 'ms'))
    .map((parts) => parts.join(''));
  const duration = fc.array(component, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''));
  const units = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };

  test('parse(format(x)) = x, and what was written is standard', () => {
    fc.assert(
      fc.property(fc.nat(99_999 * 3_600_000), (milliseconds) => {
        const formatted = formatDuration(milliseconds);
        if (!formatted.ok) throw new Error(formatted.problem);
        expect(parseDuration(formatted.text)).toEqual({ ok: true, milliseconds });
        expect(isStandardForm(formatted.text)).toBe(true);
      }),
    );
  });

  test('every duration has the sum of its parts for value, and its standard form the same', () => {
    fc.assert(
      fc.property(duration, (text) => {
        const sum = [...text.matchAll(/([0-9]+)(ms|h|m|s)/g)]
          .map(([, number, unit]) => Number(number) * units[unit as keyof typeof units])
          .reduce((a, b) => a + b, 0);
        expect(parseDuration(text)).toEqual({ ok: true, milliseconds: sum });
        const formatted = formatDuration(sum);
        expect(formatted.ok).toBe(sum < 100_000 * 3_600_000);
        if (formatted.ok) expect(parseDuration(formatted.text)).toEqual({ ok: true, milliseconds: sum });
      }),
    );
  });

  test('any text is read exactly when the grammar allows it', () => {
    fc.assert(
      fc.property(nearly('0159hmsHd.-+ \nµ'), (text) => {
        expect(parseDuration(text).ok).toBe(grammar.test(text));
      }),
      { numRuns: 2_000 },
    );
  });

  test('what an advice names is a duration', () => {
    fc.assert(
      fc.property(nearly('015hmsd.n ,'), (text) => {
        const parsed = parseDuration(text);
        const advised = parsed.ok ? undefined : /\. Use "([0-9][0-9hms]*)"$/.exec(parsed.problem)?.[1];
        expect(advised === undefined || isStandardForm(advised)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('hostnames', () => {
  const label = fc.constantFrom('a', 'b', 'c');
  const name = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'));
  const hostname = fc.oneof(
    name,
    name.map((text) => `*.${text}`),
    fc.constant(''),
  );

  test('a host falls under the intersection exactly when it falls under both', () => {
    fc.assert(
      fc.property(hostname, hostname, name, (a, b, host) => {
        const common = intersectHostnames(a, b);
        expect(common !== undefined && hostnameMatches(common, host)).toBe(
          hostnameMatches(a, host) && hostnameMatches(b, host),
        );
      }),
      { numRuns: 2_000 },
    );
  });

  test('intersecting does not depend on the side', () => {
    fc.assert(
      fc.property(hostname, hostname, (a, b) => expect(intersectHostnames(a, b)).toBe(intersectHostnames(b, a))),
    );
  });

  test('a good hostname survives the Host header', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', 'b', '0', '-', '.') }), (text) => {
        fc.pre(preciseHostnameProblems(text).length === 0);
        expect(hostFromHeader(`${text}:80`)).toBe(text);
      }),
    );
  });
});

describe('paths', () => {
  const path = nearly('/.ab%2eEfF5C\\|').map((text) => `/${text}`);

  test('normalising twice changes nothing, and the result is a legal path without dot segments', () => {
    fc.assert(
      fc.property(path, (text) => {
        const once = normalizePath(text);
        if (!once.ok) return;
        expect(normalizePath(once.path)).toEqual(once);
        expect(once.path).toMatch(/^(?:\/(?:[A-Za-z0-9\-._~!$&'()*+,;=:@]|%[0-9A-F]{2})*)+$/);
        expect(once.path.split('/').filter((segment) => segment === '.' || segment === '..')).toEqual([]);
      }),
      { numRuns: 2_000 },
    );
  });

  test('a path match value without problems matches itself', () => {
    fc.assert(
      fc.property(path, (value) => {
        if (pathProblems(value).length > 0) return;
        expect(hasPathPrefix(value, value)).toBe(true);
        expect(hasPathPrefix(`${value}/x`, value)).toBe(true);
      }),
    );
  });

  test('a prefix replaced by itself changes nothing', () => {
    const segments = fc.array(fc.constantFrom('a', 'b', 'cd'), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(segments, segments, (head, tail) => {
        const prefix = `/${head.join('/')}`;
        const whole = `${prefix}/${tail.join('/')}`;
        expect(replacePathPrefix(whole, prefix, prefix)).toBe(whole);
        expect(replacePathPrefix(whole, `${prefix}/`, '/x/')).toBe(`/x/${tail.join('/')}`);
      }),
    );
  });
});

describe('any value', () => {
  test('a quoted text never holds control characters and is bounded', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 40 }), (text, limit) => {
        const shown = quote(text, limit);
        expect(shown).not.toMatch(/[\p{Cc}\p{Cs}]/u);
        expect(shown.length).toBeLessThanOrEqual(10 * limit + 2);
      }),
    );
  });

  test('no text and no JSON makes anything throw', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.jsonValue(), (text, json) => {
        hostnameProblems(text);
        hostFromHeader(text);
        pathProblems(text);
        normalizePath(text);
        nearest(text, ['HTTPRoute', text]);
        quote(json);
        expect(selectorMatches(json, {}) && selectorProblems(json).length > 0).toBe(false);
      }),
    );
  });

  test('no pattern makes compiling throw, and a compiled one matches within bounds', () => {
    fc.assert(
      fc.property(nearly('ab([{)]}*+?|\\,19^$.-<=!:'), fc.string(), (text, value) => {
        const compiled = compilePattern(text);
        expect(typeof (compiled.ok ? compiled.pattern.matches(value) : compiled.problem)).toMatch(/boolean|string/);
      }),
      { numRuns: 1_000 },
    );
  });
});
