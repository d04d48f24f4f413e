import { expect, test } from '@jest/globals';
import { catchUp } from '../../../src/webhook/catch-up.ts';

/** A pace and an evaluation of which a test resolves one promise after the other. */
function stage() {
  const order: string[] = [];
  const promises = new Map<string, PromiseWithResolvers<void>>();
  const begin = (name: string): void => void promises.set(name, Promise.withResolvers());
  const end = async (name: string): Promise<void> => {
    order.push(name);
    const { resolve } = promises.get(name) ?? {};
    promises.delete(name);
    resolve?.();
    await new Promise((next) => setImmediate(next));
    await new Promise((next) => setImmediate(next));
  };
  const caughtUp = catchUp(
    {
      catchUp() {
        order.push('asked');
        return promises.get('reading')?.promise;
      },
    },
    {
      get applied() {
        return promises.get('evaluation')?.promise;
      },
    },
  );
  return { order, begin, end, caughtUp };
}

test('nothing to wait for', () => {
  const { caughtUp, order } = stage();
  expect(caughtUp()).toBeUndefined();
  expect(order).toEqual(['asked']);
});

test('what has arrived is read and then evaluated', async () => {
  const { caughtUp, order, begin, end } = stage();
  begin('reading');
  const done = caughtUp()?.then(() => order.push('done'));
  begin('evaluation');
  await end('reading');
  await end('evaluation');
  await done;
  expect(order).toEqual(['asked', 'reading', 'evaluation', 'done']);
});

test('what arrives while other events are evaluated is read afterwards, and evaluated as well', async () => {
  const { caughtUp, order, begin, end } = stage();
  begin('evaluation');
  const done = caughtUp()?.then(() => order.push('done'));
  begin('reading');
  await end('evaluation');
  begin('evaluation');
  await end('reading');
  await end('evaluation');
  await done;
  expect(order).toEqual(['evaluation', 'asked', 'reading', 'evaluation', 'done']);
});
