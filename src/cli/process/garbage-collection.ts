import { setFlagsFromString } from 'node:v8';

/**
 * For processes that read many objects to keep and then many more to forget. V8 learns from the first ones where what
 * is read should live, and would put what is forgotten into old space, too, where collecting it costs far more. Call
 * it before the first object is read.
 */
export function expectShortLives(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
