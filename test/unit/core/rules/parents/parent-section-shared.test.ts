import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (spec: object): unknown => soundRoute({}, spec);

describe('parent-section-shared', () => {
  test.each<[object]>([
    [
      {
        parentRefs: [
          { name: 'front', sectionName: 'web' },
          { name: 'front', sectionName: 'shop' },
        ],
      },
    ],
    [
      {
        parentRefs: [
          { name: 'front', sectionName: 'web', port: 80 },
          { name: 'back', sectionName: 'web', port: 80 },
        ],
      },
    ],
    [
      {
        parentRefs: [
          { name: 'front', port: 80 },
          { name: 'front', port: 81 },
        ],
      },
    ],
  ])('%j is fine', (value) => {
    expect(remarks('parent-section-shared', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      {
        parentRefs: [
          { name: 'front', sectionName: 'web', port: 80 },
          { name: 'front', sectionName: 'shop', port: 80 },
        ],
      },
      [
        'spec.parentRefs[1].port',
        'Duplicate port 80: parentRefs[0] has the same one and names the same Gateway. Use distinct values of port, or merge the two parentRefs.',
      ],
    ],
    [
      {
        parentRefs: [
          { name: 'front', sectionName: 'web', port: 80 },
          { name: 'front', namespace: 'shop', sectionName: 'web', port: 81 },
        ],
      },
      [
        'spec.parentRefs[1].sectionName',
        'Duplicate sectionName "web": parentRefs[0] has the same one and names the same Gateway. Use distinct values of sectionName, or merge the two parentRefs.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('parent-section-shared', object(value))).toEqual(expected);
  });
});
