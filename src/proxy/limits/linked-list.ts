/** A value and its position in a `LinkedList`, if it is in one. The owner of the value keeps it. */
export class Place<T> {
  readonly value: T;
  before: Place<T> | undefined;
  after: Place<T> | undefined;
  isTaken = false;

  constructor(value: T) {
    this.value = value;
  }
}

/** Values in insertion order. All operations take constant time and look nothing up. */
export class LinkedList<T> {
  private head: Place<T> | undefined;
  private end: Place<T> | undefined;

  get first(): Place<T> | undefined {
    return this.head;
  }

  get last(): Place<T> | undefined {
    return this.end;
  }

  /** Moves a place to the end of the list, or adds it there. */
  append(place: Place<T>): void {
    this.remove(place);
    place.isTaken = true;
    place.before = this.end;
    if (this.end === undefined) this.head = place;
    else this.end.after = place;
    this.end = place;
  }

  /** Removes a place, which must not be in another list. Has no effect if it is in none. */
  remove(place: Place<T>): void {
    if (!place.isTaken) return;
    if (place.before === undefined) this.head = place.after;
    else place.before.after = place.after;
    if (place.after === undefined) this.end = place.before;
    else place.after.before = place.before;
    place.before = undefined;
    place.after = undefined;
    place.isTaken = false;
  }
}
