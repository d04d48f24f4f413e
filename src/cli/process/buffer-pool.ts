/** The size of the pool in bytes. Its default is 64 KiB. */
const poolSize = 4 * 1024;

/**
 * For threads that hold bytes of many clients. Node takes small buffers out of a larger one, its pool, which stays in memory for as long as any of them. So a
 * single byte could hold as much memory as the pool, while all limits count one byte. The size applies to the current thread, from its next pool on.
 */
export function limitBufferPool(): void {
  Buffer.poolSize = poolSize;
}
