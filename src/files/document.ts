import type { Path } from '../core/resources/path.ts';

/** A position in a file. Line and column count from 1, columns in UTF-16 code units. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** An object of a file. */
export interface SourceDocument {
  readonly file: string;
  /** Index among the objects of the file, from 0. Items of a List count separately. */
  readonly index: number;
  /** If set, the object comes from a cluster. `file` is its kind and name, and lines and columns have no meaning. */
  readonly isStored?: true;
  /** Plain JSON of bounded size and depth. Never null or a scalar. */
  readonly value: unknown;
  /** The first line of the object, from 1. */
  readonly line: number;
  /**
   * The position of a path inside the object: the key of a property, or the start of a list item. For a path that does not exist, the
   * nearest ancestor that does.
   */
  readonly locate: (path: Path) => Position;
  /** The text of a line of the object, without its line end. '' for other lines. */
  readonly textOf: (line: number) => string;
}

/** A problem of a file, for its author. */
export interface FileProblem {
  readonly file: string;
  /** `error`: an object could not be read. `warning`: it was read, but perhaps not as intended. */
  readonly severity: 'error' | 'warning';
  /** Absent if the file could not be read at all. */
  readonly position?: Position;
  /** The text of that line. */
  readonly text?: string;
  /** If set, the given file or folder does not exist. */
  readonly isMissing?: true;
  /** The problem and its fix, without a leading capital. */
  readonly message: string;
}

/** Formats a problem as `file:line:column: message`, which editors and terminals turn into a link. */
export function formatProblem({ file, position, message }: FileProblem): string {
  return position === undefined ? `${file}: ${message}` : `${file}:${position.line}:${position.column}: ${message}`;
}
