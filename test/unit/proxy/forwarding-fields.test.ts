import { expect, test } from '@jest/globals';
import { withoutField } from '../../../src/core/text/fields.ts';
import { responseFields } from '../../../src/proxy/forwarding-fields.ts';

test('fields of a response lose what belongs to the connection, whatever its spelling', () => {
  const fields = ['CONNECTION', 'X-One ,x-TWO', 'connection', 'close,x-three', 'x-one', '1', 'X-Two', '2', 'x-three', '3', 'x-four', '4', 'Transfer-Encoding', 'Chunked'];
  expect(responseFields(fields)).toEqual(['x-four', '4']);
});

test.each(['gzip', 'gzip, chunked', 'identity'])('a response in transfer coding %s cannot be taken over', (coding) => {
  expect(responseFields(['transfer-encoding', coding])).toBeUndefined();
});

test('a field is taken out by name', () => {
  expect(withoutField(['A', '1', 'b', '2', 'a', '3'], 'a')).toEqual(['b', '2']);
});
