import { ActionInTurns } from '../../time/slices.ts';

/**
 * What follows when a connection has closed: the end of its requests, or the reset of the other side. A few run in each turn of the event loop,
 * because clients and backends can end thousands of connections at the same moment. The actions must not throw.
 */
export const afterClosing = new ActionInTurns<() => void>((action) => action());
