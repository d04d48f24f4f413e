import { fork } from 'node:child_process';
import { once } from 'node:events';
import { answerOf } from '../processes.ts';
import type { AskOrder, AskReport, LoadOrder, LoadReport } from './client.ts';

/** The process that makes the load. One order at a time. */
export class Client {
  private readonly child = fork(new URL('client.ts', import.meta.url));

  load(order: Omit<LoadOrder, 'type'>): Promise<LoadReport> {
    return this.order<LoadReport>({ type: 'load', ...order });
  }

  ask(order: Omit<AskOrder, 'type'>): Promise<AskReport> {
    return this.order<AskReport>({ type: 'ask', ...order });
  }

  stop(): void {
    this.child.kill('SIGKILL');
  }

  private async order<T>(order: LoadOrder | AskOrder): Promise<T> {
    const reply = answerOf(this.child, once(this.child, 'message'));
    this.child.send(order);
    const [report] = await reply;
    return report as T;
  }
}
