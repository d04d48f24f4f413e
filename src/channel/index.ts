/**
 * Sends configuration from controllers to proxies, in process or over HTTP/2 and TLS (design: resume by content,
 * acknowledged transactions).
 */
export { connectChannel, type ChannelConnection, type ConnectOptions } from './client.ts';
export {
  sessionKeysKey,
  type CertificateResource,
  type ChannelResource,
  type ResourceProblem,
  type SessionKeysResource,
} from './messages.ts';
export { serveChannel, type ChannelServer, type Claim, type ServeOptions, type ServingCertificate } from './server.ts';
export { ConfigurationSink, type Apply, type ConfigChange, type CurrentProblem } from './sink.ts';
export { ConfigurationSource, type SessionState } from './source.ts';
