const pcmFormat = 1;
const extensible = 0xfffe;
const headBytes = 44;

/** Silent 16-bit mono samples without a head. */
export function encodePcm(seconds: number, sampleRate: number): Buffer {
  return Buffer.alloc(Math.round(seconds * sampleRate) * 2);
}

/** The same behind a RIFF head. */
export function encodeWav(seconds: number, sampleRate: number): Buffer {
  const samples = encodePcm(seconds, sampleRate);
  const head = Buffer.alloc(headBytes);
  head.write("RIFF", 0, "latin1");
  head.writeUInt32LE(headBytes - 8 + samples.length, 4);
  head.write("WAVEfmt ", 8, "latin1");
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(pcmFormat, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(sampleRate, 24);
  head.writeUInt32LE(sampleRate * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write("data", 36, "latin1");
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}

/** Seconds of a WAV file of plain samples; null for anything else. */
export function readWav(file: Buffer): number | null {
  if (file.toString("latin1", 0, 4) !== "RIFF" || file.toString("latin1", 8, 12) !== "WAVE") return null;
  let bytesPerSecond = 0;
  for (let at = 12; at + 8 <= file.length;) {
    const name = file.toString("latin1", at, at + 4);
    const length = file.readUInt32LE(at + 4);
    if (name === "fmt " && at + 20 <= file.length) bytesPerSecond = readFormat(file, at + 8);
    // A writer that could not know the length writes the largest one, or none.
    const left = file.length - at - 8;
    if (name === "data")
      return bytesPerSecond > 0 ? (length === 0 ? left : Math.min(length, left)) / bytesPerSecond : null;
    at += 8 + length + (length % 2);
  }
  return null;
}

function readFormat(file: Buffer, at: number): number {
  const format = file.readUInt16LE(at);
  const known = format === pcmFormat || format === 3 || format === 6 || format === 7 || format === extensible;
  return known ? file.readUInt32LE(at + 8) : 0;
}
