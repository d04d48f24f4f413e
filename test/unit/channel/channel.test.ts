import { connectInProcess } from '../../../src/channel/in-process.ts';
import type { Peer } from '../../../src/channel/messages.ts';
import type { ConfigurationSink } from '../../../src/channel/sink.ts';
import type { ConfigurationSource } from '../../../src/channel/source.ts';
import { channelContract } from '../../contract/channel.ts';

channelContract('in-process calls', connectInProcess);
channelContract('lines of JSON', connectByLines);

/** As a network would: text in both directions, cut anywhere, arriving later. */
function connectByLines(source: ConfigurationSource, sink: ConfigurationSink): { close(): void } {
  let isOpen = true;
  const toController: Peer<never> = source.connect('lines', (message) => toProxy(message));
  const proxy: Peer<never> = sink.connect((message) => toSource(message));
  const toProxy = lineWriter(proxy, () => isOpen);
  const toSource = lineWriter(toController, () => isOpen);
  return {
    close() {
      isOpen = false;
      toController.close();
      proxy.close();
    },
  };
}

const chunkLength = 100;

function lineWriter(receiver: Peer<never>, isOpen: () => boolean): (message: unknown) => void {
  let received = '';
  const accept = (chunk: string) => {
    received += chunk;
    const lines = received.split('\n');
    received = lines.pop() ?? '';
    for (const line of lines) if (isOpen()) void receiver.receive(JSON.parse(line) as never);
  };
  return (message) => {
    const text = `${JSON.stringify(message)}\n`;
    for (let start = 0; start < text.length; start += chunkLength) {
      setImmediate(accept, text.slice(start, start + chunkLength));
    }
  };
}
