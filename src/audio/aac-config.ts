import { aacRates, AAC_SAMPLES } from "./mpeg-frame.ts";

/** AAC in its profiles for any bit rate; the values above are its high-efficiency variants, which double the rate. */
const PLAIN_MAX = 4;
const highEfficiency: ReadonlySet<number> = new Set([5, 29]);

/** Recordings in AAC have at most 48 kHz. A higher rate is a claim that decoders may not follow. */
const RATE_MAX = 48_000;

/** Bytes of a packet on average: 350 kbit/s at 44.1 kHz. In larger ones decoders may find, and play, further frames. */
const PACKET_BYTES_MAX = 1_024;

/** Whether packets of AAC can be single frames, by their average size. */
export function isPlausibleAac(bytes: number, packets: number): boolean {
  return bytes <= packets * PACKET_BYTES_MAX;
}

/**
 * The duration of a packet, by the AudioSpecificConfig that decoders obey, whatever the container claims. 0 if the
 * config is missing or of another codec.
 */
export function aacPacketMs(config: Buffer): number {
  if (config.length < 2) return 0;
  const bits = Buffer.concat([config, Buffer.alloc(4)]).readUInt32BE(0);
  const kind = bits >>> 27;
  const rate = aacRates[(bits >>> 23) & 0b1111] ?? 0;
  if (!highEfficiency.has(kind)) return kind >= 1 && kind <= PLAIN_MAX ? packetMs(rate) : 0;
  const extended = aacRates[(bits >>> 15) & 0b1111] ?? 0;
  const inner = (bits >>> 10) & 0b11111;
  return inner >= 1 && inner <= PLAIN_MAX ? packetMs(Math.min(rate, extended)) : 0;
}

function packetMs(rate: number): number {
  return rate === 0 || rate > RATE_MAX ? 0 : (AAC_SAMPLES * 1_000) / rate;
}
