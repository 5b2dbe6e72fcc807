import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** "Hello from the simulator.", spoken by espeak-ng: 24,000 samples a second of 16 bits, behind a WAV header. */
const wav = readFileSync(fileURLToPath(new URL("hello.wav", import.meta.url)));
const wavHeaderBytes = 44;

/** The samples as PCM. */
const spoken = wav.subarray(wavHeaderBytes);
export const spokenText = "Hello from the simulator.";

/** Samples of PCM in a second, two bytes each. */
export const sampleRate = 24_000;

/** A tenth of a second, as one delta. */
const deltaBytes = (sampleRate * 2) / 10;

/** Speech of this many seconds: the sample, again and again. */
export function* speechDeltas(seconds: number): Generator<Buffer> {
  const total = Math.ceil(seconds * 10) * deltaBytes;
  for (let at = 0; at < total; at += deltaBytes) {
    const from = at % (spoken.length - deltaBytes);
    yield spoken.subarray(from, from + deltaBytes);
  }
}
