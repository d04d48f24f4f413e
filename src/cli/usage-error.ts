/** Something that whoever starts the program can put right; the message says how, and a stack would only hide it. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}
