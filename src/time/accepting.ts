import { NextTurn } from './next-turn.ts';

/** Turns of the event loop that are short because connections arrive. The next connection arrives in the turn after this one. */
let shortTurns = 0;
const next = new NextTurn(endTurn);

/**
 * A port has accepted a connection in this turn. Node accepts one per turn, so a burst waits for as many turns as it
 * has connections. Turns are short until the burst is over.
 */
export function acceptedInTurn(): void {
  shortTurns = 2;
  next.request();
}

/** Whether a burst of connections is being accepted, so that turns must be short. */
export function isAccepting(): boolean {
  return shortTurns > 0;
}

function endTurn(): void {
  shortTurns -= 1;
  if (shortTurns > 0) next.request();
}
