import { request as startRequest, type Agent, type ClientRequestArgs } from 'node:http';
import { request as startSecureRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import { defaultPorts } from '../core/text/origin.ts';

/** An HTTP proxy in front of the API server. */
export interface Proxy {
  readonly url: URL;
  /** The header with the name and the password of its URL, for Basic authentication. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Reads the URL of a proxy. @throws if it is invalid, with a message that contains no password */
export function readProxy(text: string): Proxy {
  const url = URL.parse(text);
  if (url === null) throw new Error('the proxy-url is invalid; use a URL such as http://proxy.example.com:3128');
  return { url, headers: authorization(url) };
}

/**
 * Makes connections of an agent through an HTTP proxy, by CONNECT (RFC 9110, section 9.3.6). A connection fails if the proxy answers
 * anything but a 2xx.
 *
 * @param protocol `https:` or `http:`, of the server behind the proxy
 * @param answerTimeout milliseconds within which the proxy must answer
 */
export function connectThrough(
  proxy: Proxy,
  protocol: string,
  answerTimeout = defaultTimeout,
): Agent['createConnection'] {
  return (options, callback) => {
    // A failed connection has no stream.
    const finish = callback as ((error: Error | null, socket?: Duplex) => void) | undefined;
    openTunnel(proxy, { ...options, timeout: answerTimeout }, (error, tunnel) => {
      if (tunnel === undefined) return finish?.(error);
      const isSecure = protocol === 'https:';
      finish?.(null, isSecure ? connectTls({ ...(options as ConnectionOptions), socket: tunnel }) : tunnel);
    });
    return undefined;
  };
}

/** Milliseconds. */
const defaultTimeout = 10_000;

type OnTunnel = (error: Error | null, tunnel?: Duplex) => void;

function openTunnel({ url: proxy, headers }: Proxy, { host, port, timeout }: ClientRequestArgs, done: OnTunnel): void {
  const name = String(host).includes(':') ? `[${host}]` : String(host);
  const authority = `${name}:${port === undefined || port === '' ? defaultPorts.https : port}`;
  const start = proxy.protocol === 'https:' ? startSecureRequest : startRequest;
  const request = start({
    host: proxy.hostname.replace(/^\[|\]$/g, ''),
    port: proxy.port,
    method: 'CONNECT',
    path: authority,
    headers: { host: authority, ...headers },
    agent: false,
  });
  // For the whole answer: each piece of a head without end would begin an idle timeout of the connection anew.
  const timer = setTimeout(() => {
    request.destroy(new Error(`the HTTP proxy ${proxy.host} did not answer CONNECT within ${timeout} ms`));
  }, timeout);
  request.on('close', () => clearTimeout(timer));
  request.on('error', done);
  request.on('connect', ({ statusCode = 0 }, socket) => {
    clearTimeout(timer);
    if (statusCode >= 200 && statusCode < 300) return done(null, socket);
    socket.destroy();
    done(new Error(`the HTTP proxy ${proxy.host} answered CONNECT with ${statusCode}`));
  });
  request.end();
}

function authorization({ username, password }: URL): Record<string, string> {
  if (username === '') return {};
  const credentials = `${decoded(username)}:${decoded(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    throw new Error('the name or the password in the proxy-url has an invalid escape; write %25 for %', {
      cause: error,
    });
  }
}
