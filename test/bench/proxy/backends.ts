import { createSocket } from 'node:dgram';
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { clientFrame, serverFrame } from './messages.ts';

// Backends of streams of messages: WebSocket and gRPC return each message, UDP each datagram. Prints nothing.
// usage: node backends.ts WEBSOCKET-PORT GRPC-PORT UDP-PORT

const [webSocketPort, grpcPort, udpPort] = process.argv.slice(2).map(Number);
const host = '127.0.0.1';
/** RFC 6455 section 1.3 */
const acceptSuffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

createServer()
  .on('upgrade', ({ headers }, socket) => {
    const accept = createHash('sha1').update(`${headers['sec-websocket-key']}${acceptSuffix}`).digest('base64');
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    let received = 0;
    socket.on('data', (bytes: Buffer) => {
      received += bytes.length;
      for (; received >= clientFrame.length; received -= clientFrame.length) socket.write(serverFrame);
    });
    socket.on('error', () => socket.destroy());
  })
  .listen(webSocketPort, host);

createHttp2Server({ settings: { initialWindowSize: 2 ** 20, maxConcurrentStreams: 1024 } })
  .on('stream', (stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.on('error', () => stream.destroy());
    stream.pipe(stream);
  })
  .listen(grpcPort, host);

const udp = createSocket({ type: 'udp4', recvBufferSize: 2 ** 20 });
udp.on('message', (message, { port, address }) => udp.send(message, port, address)).bind(udpPort, host);
