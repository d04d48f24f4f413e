/** Bytes that OpenSSL takes for a context, and for each of its CA certificates (Node 24). */
const bytesOfContext = 44 * 1024;
const bytesOfAuthority = 6.5 * 1024;

/** Smaller contexts need no ballast. */
const heavy = 128 * 1024;

interface Weight {
  readonly bytes: number;
  /** As large as the context. Nobody writes to it, so it takes address space only. */
  readonly ballast: ArrayBuffer | undefined;
}

const weights = new WeakMap<object, Weight>();

/**
 * Notes the number of CA certificates in a TLS context, or in what stands for one. V8 does not know the memory that OpenSSL takes, and
 * would keep hundreds of unused contexts until it looks at all objects for another reason. It counts the ballast, and looks earlier.
 */
export function weigh(context: object, authorities: number): void {
  const bytes = bytesOfContext + authorities * bytesOfAuthority;
  weights.set(context, { bytes, ballast: bytes < heavy ? undefined : new ArrayBuffer(bytes) });
}

/** Returns the bytes of a context; those of one without CA certificates if it was not weighed. */
export function bytesOf(context: object): number {
  return weights.get(context)?.bytes ?? bytesOfContext;
}
