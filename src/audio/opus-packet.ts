/** Bytes of a packet that tell how long it lasts. */
export const OPUS_HEAD_BYTES = 2;

/** Milliseconds of a frame, four configurations of each bandwidth: first speech, then mixed, then music (RFC 6716). */
const speechMs = [10, 20, 40, 60];
const mixedMs = [10, 20, 10, 20];
const musicMs = [2.5, 5, 10, 20];
const bandwidths = [speechMs, speechMs, speechMs, mixedMs, musicMs, musicMs, musicMs, musicMs];

/** No packet lasts longer. */
const PACKET_MS_MAX = 120;

/** How long an Opus packet lasts, by its first two bytes. */
export function opusMs(first: number, second: number): number {
  const code = first & 0b11;
  const frames = code === 0 ? 1 : code === 3 ? second & 0x3f : 2;
  const frameMs = bandwidths[first >> 5]?.[(first >> 3) & 0b11] ?? 0;
  return Math.min(frames * frameMs, PACKET_MS_MAX);
}
