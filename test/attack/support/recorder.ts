import { startRawBackend } from '../../support/backends.ts';
import type { Backend } from '../../support/backends.ts';
import { isPlainTarget, readStrictly } from './strict-http1.ts';
import type { StrictRequest } from './strict-http1.ts';

/** A backend that keeps what it receives, read by a strict reader, and answers each request with the id in its target. */
export interface Recorder {
  readonly backend: Backend;
  /** Every request that came in whole, by the id in its target. */
  readonly received: ReadonlyMap<string, readonly StrictRequest[]>;
  /** Bytes that a strict reader does not take for a request, and requests without an id. */
  readonly violations: readonly string[];
  /** Requests that began and have not ended, on connections that stand. */
  openPartials(): number;
}

const tag = /\/t(?<id>[0-9]+r[0-9]+)t/;

/** The id with which a request was tagged: `/t17r2t` has the id 17r2, the second request of case 17. */
export function idIn(target: string): string | undefined {
  return tag.exec(target)?.groups?.['id'];
}

/** Starts one; `closeBackends` ends it. */
export async function startRecorder(): Promise<Recorder> {
  const received = new Map<string, StrictRequest[]>();
  const violations: string[] = [];
  let partials = 0;
  const backend = await startRawBackend((socket) => {
    let unread = '';
    const setUnread = (text: string): void => {
      partials += Number(text !== '') - Number(unread !== '');
      unread = text;
    };
    socket.on('close', () => setUnread(''));
    socket.on('end', () => socket.end());
    socket.on('data', (chunk: Buffer) => {
      let bytes = unread + chunk.toString('latin1');
      while (bytes !== '') {
        const reading = readStrictly(bytes);
        if (reading.kind === 'partial') break;
        if (reading.kind !== 'whole' || /^[\r\n]/.test(bytes) || !isPlainTarget(reading.request.target)) {
          violations.push(bytes);
          socket.destroy();
          return;
        }
        const { request } = reading;
        bytes = bytes.slice(request.end);
        const id = idIn(request.target);
        if (id === undefined) violations.push(`no id in ${request.target}`);
        else received.set(id, [...(received.get(id) ?? []), request]);
        const body = request.method === 'HEAD' ? '' : String(id);
        socket.write(`HTTP/1.1 200 OK\r\nX-Id: ${id}\r\nContent-Length: ${String(id).length}\r\n\r\n${body}`, 'latin1');
      }
      setUnread(bytes);
    });
  });
  return { backend, received, violations, openPartials: () => partials };
}
