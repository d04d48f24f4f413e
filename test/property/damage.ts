import * as fc from 'fast-check';
import { placesIn, withValue } from '../differential/place.ts';

const deep: fc.Arbitrary<unknown> = fc.integer({ min: 100, max: 20_000 }).map((depth) => {
  let json: unknown = 'deep';
  for (let level = 0; level < depth; level += 1) json = level % 2 === 0 ? [json] : { spec: json };
  return json;
});
const proto: fc.Arbitrary<unknown> = fc
  .jsonValue()
  .map((value): unknown => JSON.parse(`{"__proto__":${JSON.stringify(value)},"constructor":1,"toString":null}`));

/** Any JSON value, deep ones and such with names that scripts are attacked by among them. */
export const anyJson: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: fc.jsonValue({ noUnicodeString: false }) },
  { weight: 1, arbitrary: deep },
  { weight: 1, arbitrary: proto },
);

export interface Damaged {
  readonly json: unknown;
  readonly damage: unknown;
}

/** A good value, and the same with arbitrary JSON in place of one of its parts, or of all of it. */
export function damaged(good: fc.Arbitrary<unknown>): fc.Arbitrary<Damaged> {
  return fc.tuple(good, fc.nat(), anyJson).map(([json, pick, value]) => {
    const places = [[], ...placesIn(json)];
    return { json, damage: withValue(json, places[pick % places.length] ?? [], value) };
  });
}
