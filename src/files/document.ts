import type { Path } from '../core/resources/path.ts';

/** A place in a file, both counted from 1; columns in UTF-16 code units. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** One object of a file. */
export interface SourceDocument {
  readonly file: string;
  /** Position among the objects of the file, from 0; the items of a List count one by one. */
  readonly index: number;
  /** Set: the object was read from a cluster, and `file` is its kind and name; lines and columns have no meaning. */
  readonly isStored?: true;
  /** Plain JSON of bounded size and depth; never null or a scalar. */
  readonly value: unknown;
  /** Where the object begins, from 1. */
  readonly line: number;
  /**
   * Where a path inside the object stands: the key of a property, the beginning of a list item. For a path that
   * does not exist, the nearest ancestor that does.
   */
  readonly locate: (path: Path) => Position;
  /** The text of a line that the object stands on, without its end; '' for other lines. */
  readonly textOf: (line: number) => string;
}

/** Something about a file that its author should know. */
export interface FileProblem {
  readonly file: string;
  /** `error`: an object could not be read. `warning`: it was read, but perhaps not as meant. */
  readonly severity: 'error' | 'warning';
  /** Absent where the file could not be read at all. */
  readonly position?: Position;
  /** The text of that line. */
  readonly text?: string;
  /** What is wrong and what to do instead, without a leading capital. */
  readonly message: string;
}

/** `file:line:column: message`, the form that editors and terminals make a link of. */
export function formatProblem({ file, position, message }: FileProblem): string {
  return position === undefined ? `${file}: ${message}` : `${file}:${position.line}:${position.column}: ${message}`;
}
