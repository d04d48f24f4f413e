import { compact } from './bundles.ts';
import type { ToProxy } from './messages.ts';
import { encodeLine } from './wire.ts';

/** Returns a message as a line. All proxies of a Gateway get the same message, so that it is encoded, and held in memory, once for them. */
export const lineOf = onceForEach((message) => Buffer.from(encodeLine(message)));

/** Returns a message as a line for proxies that know lists of CA certificates outside of resources. */
export const compactLineOf = onceForEach((message) => lineOf(compact(message)));

/** Remembers the result for each message as long as the message lives. */
function onceForEach(encode: (message: ToProxy) => Buffer): (message: ToProxy) => Buffer {
  const lines = new WeakMap<ToProxy, Buffer>();
  return (message) => {
    const line = lines.get(message) ?? encode(message);
    lines.set(message, line);
    return line;
  };
}
