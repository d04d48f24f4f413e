import { request as startRequest, type Agent, type ClientRequestArgs } from 'node:http';
import { request as startSecureRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import { defaultPorts } from '../core/text/origin.ts';

/**
 * Makes connections of an agent through an HTTP proxy, by CONNECT (RFC 9110, section 9.3.6). A connection fails if the proxy answers
 * anything but a 2xx.
 *
 * @param proxy may contain a name and a password, for Basic authentication
 * @param protocol `https:` or `http:`, of the server behind the proxy
 */
export function connectThrough(proxy: URL, protocol: string): Agent['createConnection'] {
  return (options, callback) => {
    // A failed connection has no stream.
    const finish = callback as ((error: Error | null, socket?: Duplex) => void) | undefined;
    openTunnel(proxy, options, (error, tunnel) => {
      if (tunnel === undefined) return finish?.(error);
      const isSecure = protocol === 'https:';
      finish?.(null, isSecure ? connectTls({ ...(options as ConnectionOptions), socket: tunnel }) : tunnel);
    });
    return undefined;
  };
}

/** Milliseconds. */
const answerTimeout = 10_000;

type OnTunnel = (error: Error | null, tunnel?: Duplex) => void;

function openTunnel(proxy: URL, { host, port }: ClientRequestArgs, done: OnTunnel): void {
  const name = String(host).includes(':') ? `[${host}]` : String(host);
  const authority = `${name}:${port === undefined || port === '' ? defaultPorts.https : port}`;
  const start = proxy.protocol === 'https:' ? startSecureRequest : startRequest;
  const request = start({
    host: proxy.hostname.replace(/^\[|\]$/g, ''),
    port: proxy.port,
    method: 'CONNECT',
    path: authority,
    headers: { host: authority, ...authorization(proxy) },
    agent: false,
  });
  request.on('error', done);
  request.setTimeout(answerTimeout, () =>
    request.destroy(new Error(`the HTTP proxy ${proxy.host} did not answer CONNECT within ${answerTimeout} ms`)),
  );
  request.on('connect', ({ statusCode = 0 }, socket) => {
    socket.setTimeout(0);
    if (statusCode >= 200 && statusCode < 300) return done(null, socket);
    socket.destroy();
    done(new Error(`the HTTP proxy ${proxy.host} answered CONNECT with ${statusCode}`));
  });
  request.end();
}

function authorization({ username, password }: URL): Record<string, string> {
  if (username === '') return {};
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` };
}
