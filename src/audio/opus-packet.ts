/** Milliseconds of a frame, four configurations per bandwidth: first speech, then hybrid, then music (RFC 6716). */
const speechMs = [10, 20, 40, 60];
const hybridMs = [10, 20, 10, 20];
const musicMs = [2.5, 5, 10, 20];
const bandwidths = [speechMs, speechMs, speechMs, hybridMs, musicMs, musicMs, musicMs, musicMs];

/** The longest duration of a packet. */
const PACKET_MS_MAX = 120;

/** The duration of an Opus packet, determined by its first two bytes. */
export function opusMs(first: number, second: number): number {
  const code = first & 0b11;
  const frames = code === 0 ? 1 : code === 3 ? second & 0x3f : 2;
  const frameMs = bandwidths[first >> 5]?.[(first >> 3) & 0b11] ?? 0;
  return Math.min(frames * frameMs, PACKET_MS_MAX);
}
