import { createSocket, type Socket } from 'node:dgram';
import process from 'node:process';

/**
 * The only access to parts of Node's datagram sockets that are not documented: their handles. `Socket.send` creates a request and
 * a tick for each datagram, and checks the address again, which takes a sixth of the processor time of a datagram. If a release of
 * Node changes these parts, datagrams are sent by `Socket.send`, and a test fails.
 */

/** A datagram that the kernel did not take at once. */
export interface WaitingDatagram {
  /** Called when it was sent, or is lost. */
  completed: (() => void) | undefined;
}

interface SendRequest extends WaitingDatagram {
  oncomplete: (this: SendRequest) => void;
  /** Keeps the memory of the datagram. */
  list: readonly Buffer[] | undefined;
}

/** Starts and stops the receipt of datagrams. The kernel keeps some of those that arrive meanwhile, and drops the others. */
export interface DatagramReceiver {
  recvStart(): number;
  recvStop(): number;
}

/** The `send` functions return the length plus 1, 0 for a datagram that waits, or a negative error number. The last argument requests `oncomplete`. */
interface UdpHandle extends DatagramReceiver {
  send(request: SendRequest, list: readonly Buffer[], count: number, calls: boolean): number;
  send(
    request: SendRequest,
    list: readonly Buffer[],
    count: number,
    port: number,
    address: string,
    calls: boolean,
  ): number;
}

/** What a socket knows about itself. The numbers are 0, 1 and 2: not bound or connected, in progress, done. */
interface SocketState {
  readonly handle: UdpHandle | null;
  readonly bindState: number;
  readonly connectState: number;
  /** Datagrams that wait for the socket to be bound or connected. */
  readonly queue: unknown;
  readonly sendBlockList: unknown;
}

/** `bindState` and `connectState`. */
const done = 2;

const SendWrap = sendRequests();
const stateKey = SendWrap === undefined ? undefined : findStateKey();

/** Whether datagrams are sent directly. */
export const sendsDirectly = stateKey !== undefined;

/** A request whose datagram was taken at once. */
let spare: SendRequest | undefined;

/**
 * Passes a datagram to the kernel, which usually takes it at once: `over`. One that cannot be sent is lost, and also `over`, as it may
 * be lost anywhere in the network. `not-passed`: it must be sent by `Socket.send`. Without `to` the socket must be connected.
 */
export function sendAtOnce(
  socket: Socket,
  message: Buffer,
  to: { readonly address: string; readonly port: number } | undefined,
): 'over' | 'not-passed' | WaitingDatagram {
  const handle = readyHandle(socket, to !== undefined);
  if (handle === undefined) return 'not-passed';
  const request = (spare ??= createRequest());
  const list = [message];
  const result =
    to === undefined ? handle.send(request, list, 1, true) : handle.send(request, list, 1, to.port, to.address, true);
  if (result !== 0) return 'over';
  spare = undefined;
  request.list = list;
  return request;
}

/** Returns what receives the datagrams of a socket; `undefined` for one that is closed. */
export function receiverOf(socket: Socket): DatagramReceiver | undefined {
  return stateOf(socket)?.handle ?? undefined;
}

function stateOf(socket: Socket): SocketState | undefined {
  return stateKey === undefined ? undefined : (socket as unknown as Record<symbol, SocketState | undefined>)[stateKey];
}

function readyHandle(socket: Socket, isAddressed: boolean): UdpHandle | undefined {
  const state = stateOf(socket);
  if (state === undefined || state.queue !== undefined || state.bindState !== done) return undefined;
  if (state.sendBlockList !== undefined || state.connectState !== (isAddressed ? 0 : done)) return undefined;
  return state.handle ?? undefined;
}

function createRequest(): SendRequest {
  if (SendWrap === undefined) throw new Error('Datagrams cannot be sent directly.');
  const request = new SendWrap();
  request.completed = undefined;
  request.list = undefined;
  request.oncomplete = complete;
  return request;
}

function complete(this: SendRequest): void {
  const { completed } = this;
  this.completed = undefined;
  this.list = undefined;
  completed?.();
}

function sendRequests(): (new () => SendRequest) | undefined {
  try {
    const { binding: load } = process as unknown as {
      readonly binding: (name: string) => { readonly SendWrap?: new () => SendRequest };
    };
    const { SendWrap: found } = load.call(process, 'udp_wrap');
    return typeof found === 'function' ? found : undefined;
  } catch {
    return undefined;
  }
}

/** Finds the property in which a socket keeps its state. `undefined` if the state is not what this module expects. */
function findStateKey(): symbol | undefined {
  const socket = createSocket('udp4');
  const key = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'state symbol');
  const state = key === undefined ? undefined : (socket as unknown as Record<symbol, SocketState>)[key];
  socket.close();
  const isKnown =
    state?.bindState === 0 &&
    state.connectState === 0 &&
    'handle' in state &&
    'queue' in state &&
    'sendBlockList' in state;
  return isKnown ? key : undefined;
}
