import type { Duplex, Readable } from 'node:stream';
import { traceField } from '../../channel/trace.ts';
import type { TraceReport } from '../../channel/trace.ts';
import { withoutField } from '../../core/text/fields.ts';
import type { ClientStream } from '../messages/client-stream.ts';
import type { Fields } from '../messages/forwarder.ts';
import type { RequestHead } from '../messages/request-head.ts';
import type { AnswerReason } from '../messages/reasons.ts';

/** The stream of a trace: adds the report to the head of the response. */
export class TracedStream implements ClientStream {
  private readonly stream: ClientStream;
  private readonly report: () => TraceReport;

  constructor(stream: ClientStream, report: () => TraceReport) {
    this.stream = stream;
    this.report = report;
  }

  get method(): string {
    return this.stream.method;
  }

  takeHead(): RequestHead | AnswerReason {
    return this.stream.takeHead();
  }

  get upgrade(): string | undefined {
    return this.stream.upgrade;
  }

  switchProtocol(fields: Fields): Duplex {
    return this.stream.switchProtocol(this.reported(fields));
  }

  get body(): Readable {
    return this.stream.body;
  }

  takeContent(): Buffer | undefined {
    return this.stream.takeContent();
  }

  get trailers(): Fields {
    return this.stream.trailers;
  }

  get isComplete(): boolean {
    return this.stream.isComplete;
  }

  continue(): void {
    this.stream.continue();
  }

  inform(status: number, fields: Fields): boolean {
    return this.stream.inform(status, fields);
  }

  writeHead(status: number, fields: Fields): void {
    this.stream.writeHead(status, this.reported(fields));
  }

  get headSent(): boolean {
    return this.stream.headSent;
  }

  get status(): number {
    return this.stream.status;
  }

  flushHead(): void {
    this.stream.flushHead();
  }

  write(chunk: Buffer): boolean {
    return this.stream.write(chunk);
  }

  end(trailers: Fields): void {
    this.stream.end(trailers);
  }

  get waitingBytes(): number {
    return this.stream.waitingBytes;
  }

  get isFinished(): boolean {
    return this.stream.isFinished;
  }

  breakOff(): void {
    this.stream.breakOff();
  }

  private reported(fields: Fields): string[] {
    // A filter of the route may have set the field.
    return [...withoutField([...fields], traceField), traceField, JSON.stringify(this.report())];
  }
}
