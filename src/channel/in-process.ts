import type { ConfigurationSink } from './sink.ts';
import type { ConfigurationSource } from './source.ts';

/** Joins a source and a sink of the same process. */
export function connectInProcess(source: ConfigurationSource, sink: ConfigurationSink): { close(): void } {
  // The sink sends nothing before this call has returned, so both ends are there when the first message flows.
  const toController = source.connect('in-process', (message) => void toProxy.receive(message));
  const toProxy = sink.connect((message) => void toController.receive(message));
  return {
    close() {
      toController.close();
      toProxy.close();
    },
  };
}
