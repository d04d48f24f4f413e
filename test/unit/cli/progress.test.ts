import { describe, expect, test } from '@jest/globals';
import { createProgress } from '../../../src/cli/progress.ts';

/** Steps at these times on a stream, then clears; what was written. */
function written(isTTY: boolean, times: readonly number[]): readonly string[] {
  const texts: string[] = [];
  let time = 0;
  const progress = createProgress(
    { isTTY, write: (text: unknown) => texts.push(String(text)) > 0 },
    'objects',
    () => time,
  );
  for (time of times) progress.step();
  progress.clear();
  progress.clear();
  return texts;
}

describe('progress', () => {
  test('counts on a terminal, now and then, and is taken away', () => {
    expect(written(true, [10, 20, 400, 410, 800])).toEqual(['\r3 objects …', '\r5 objects …', '\r\u001b[K']);
  });

  test('shows nothing of a short run', () => {
    expect(written(true, [10, 20, 30])).toEqual([]);
  });

  test('shows nothing anywhere but on a terminal', () => {
    expect(written(false, [10, 400, 800])).toEqual([]);
  });
});
