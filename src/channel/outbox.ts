import { Writable } from 'node:stream';

/** Bytes. */
const longestSlice = 64 * 1024;

/**
 * Returns a stream of lines, as buffers, that passes them on in slices, each after the stream has room for it. Node copies what it passes from
 * HTTP/2 to TLS and from there to the socket, as much as the window of the other side allows, which may be a whole configuration. Lines
 * that wait here are held once, and counted in `writableLength`. The end of the returned stream ends the other one.
 */
export function inSlices(stream: Writable): Writable {
  return new Writable({
    writev(lines, done) {
      const slices = lines.flatMap(({ chunk }) => slicesOf(chunk as Buffer));
      let passed = 0;
      const passOn = (): void => {
        for (let hasRoom = true; hasRoom && passed < slices.length; passed += 1) hasRoom = stream.write(slices[passed]);
        if (passed === slices.length) done();
        else stream.once('drain', passOn);
      };
      passOn();
    },
    final(done) {
      // Without `done`: if the other side leaves before it has everything, that is no error of this stream.
      stream.end();
      done();
    },
  });
}

function slicesOf(line: Buffer): readonly Buffer[] {
  const count = Math.ceil(line.length / longestSlice);
  return Array.from({ length: count }, (_, index) => line.subarray(index * longestSlice, (index + 1) * longestSlice));
}
