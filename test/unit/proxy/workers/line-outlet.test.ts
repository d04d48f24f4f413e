import { expect, test } from '@jest/globals';
import { LineOutlet } from '../../../../src/proxy/workers/line-outlet.ts';

function outlet() {
  const sent: string[] = [];
  return { sent, lines: new LineOutlet(0, new SharedArrayBuffer(4), (text) => sent.push(text)) };
}

test('the lines of one turn are sent together, each once', async () => {
  const { sent, lines } = outlet();
  lines.write('one\n');
  lines.write('two\n');
  expect(sent).toEqual([]);
  await new Promise(setImmediate);
  expect(sent).toEqual(['one\ntwo\n']);
});

test('lines can be sent before the turn ends, because the thread ends', async () => {
  const { sent, lines } = outlet();
  lines.write('last\n');
  lines.flush();
  expect(sent).toEqual(['last\n']);
  await new Promise(setImmediate);
  expect(sent).toEqual(['last\n']);
});
