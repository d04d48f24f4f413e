import type { ConfigurationSink } from './sink.ts';
import type { ConfigurationSource } from './source.ts';

/** Connects a source and a sink of the same process. */
export function connectInProcess(source: ConfigurationSource, sink: ConfigurationSink): { close(): void } {
  // The sink sends nothing before this call returns, so both ends exist when the first message is sent.
  const toController = source.connect('in-process', (message) => void toProxy.receive(message));
  const toProxy = sink.connect((message) => void toController.receive(message));
  return {
    close() {
      toController.close();
      toProxy.close();
    },
  };
}
