/**
 * The values of one source at a time, by name. Thousands of matches may read the values of a request to find its route, but this happens
 * without a pause. So the values of the last request are enough: those of all requests in progress would take 100 KiB each.
 */
export class LastRead<Source extends object | string> {
  private readonly read: (source: Source) => ReadonlyMap<string, string>;
  private source: Source | undefined;
  private values: ReadonlyMap<string, string> = new Map();

  constructor(read: (source: Source) => ReadonlyMap<string, string>) {
    this.read = read;
  }

  /** Reads the values of a source, unless it is that of the last call. */
  valuesOf(source: Source): ReadonlyMap<string, string> {
    if (source !== this.source) {
      this.values = this.read(source);
      this.source = source;
    }
    return this.values;
  }
}
