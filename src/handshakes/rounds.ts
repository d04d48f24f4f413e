/** Counts the turns of connections that wait, in rounds: in each round, every connection has one turn. */
export class Rounds {
  private turns = 0;
  private isProgressing = false;

  /** A connection left. */
  progressed(): void {
    this.isProgressing = true;
  }

  /** So many connections had a turn, of so many that wait. Returns whether a round ends in which none left. */
  hasIdled(turns: number, waiting: number): boolean {
    this.turns += turns;
    if (this.turns < waiting) return false;
    const hasIdled = !this.isProgressing;
    [this.turns, this.isProgressing] = [0, false];
    return hasIdled;
  }
}
