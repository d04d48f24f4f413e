import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (spec: object): unknown => soundRoute({}, spec);

describe('parent-section-shared', () => {
  test.each<[object]>([
    [{ parentRefs: [ { name: 'front', sectionName: 'web' }, { name: 'front', sectionName: 'shop' } ] }],
    [{ parentRefs: [ { name: 'front', sectionName: 'web', port: 80 }, { name: 'back', sectionName: 'web', port: 80 } ] }],
    [{ parentRefs: [ { name: 'front', port: 80 }, { name: 'front', port: 81 } ] }],
  ])('%j is fine', (value) => {
    expect(remarks('parent-section-shared', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [{ parentRefs: [ { name: 'front', sectionName: 'web', port: 80 }, { name: 'front', sectionName: 'shop', port: 80 } ] }, [ 'spec.parentRefs[1].port', 'This parentRef has the port 80 like parentRefs[0], and names the same Gateway. Give each a port of its own, or make one parentRef of the two.' ]],
    [{ parentRefs: [ { name: 'front', sectionName: 'web', port: 80 }, { name: 'front', namespace: 'shop', sectionName: 'web', port: 81 } ] }, [ 'spec.parentRefs[1].sectionName', 'This parentRef has the sectionName "web" like parentRefs[0], and names the same Gateway. Give each a sectionName of its own, or make one parentRef of the two.' ]],
  ])('%j', (value, ...expected) => {
    expect(remarks('parent-section-shared', object(value))).toEqual(expected);
  });
});
