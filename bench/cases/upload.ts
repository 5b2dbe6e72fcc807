import type { Expectation } from "../load/protocol.ts";
import { transcriptMarker } from "../upstream/answers.ts";

export const uploadPath = "/v1/audio/transcriptions";
export const uploadExpectation: Expectation = { kind: "json", marker: transcriptMarker };

/** Bytes of the uploaded file. */
export const soundBytes = 20 * 2 ** 20;

const samplesASecond = 16_000;
const bytesASample = 2;
const wavHeadBytes = 44;

/**
 * Eleven minutes of speech as a recorder would store it: one channel of 16 kHz in 16 bits. The samples are noise, so a
 * search for a boundary meets every byte value.
 */
export function makeSound(): Buffer {
  const sound = Buffer.alloc(soundBytes);
  writeWavHead(sound);
  const samples = new Int16Array(sound.buffer, sound.byteOffset + wavHeadBytes);
  let state = 1;
  for (let index = 0; index < samples.length; index += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    samples[index] = state >> 16;
  }
  return sound;
}

function writeWavHead(wav: Buffer): void {
  wav.write("RIFF", 0, "latin1");
  wav.writeUInt32LE(wav.length - 8, 4);
  wav.write("WAVEfmt ", 8, "latin1");
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20);
  wav.writeUInt16LE(1, 22);
  wav.writeUInt32LE(samplesASecond, 24);
  wav.writeUInt32LE(samplesASecond * bytesASample, 28);
  wav.writeUInt16LE(bytesASample, 32);
  wav.writeUInt16LE(bytesASample * 8, 34);
  wav.write("data", 36, "latin1");
  wav.writeUInt32LE(wav.length - wavHeadBytes, 40);
}

export interface UploadForm {
  contentType: string;
  body: Buffer;
}

/** The file with the fields around it, in the order in which OpenAI's own clients send them. */
export function uploadForm(model: string, sound: Buffer): UploadForm {
  const boundary = "tollgate-bench-7d1f0c52a94e";
  const part = (disposition: string, type = ""): string =>
    `--${boundary}\r\ncontent-disposition: form-data; ${disposition}\r\n${type}\r\n`;
  const body = Buffer.concat([
    Buffer.from(part('name="file"; filename="meeting.wav"', "content-type: audio/wav\r\n")),
    sound,
    Buffer.from(`\r\n${part('name="model"')}${model}\r\n`),
    Buffer.from(`${part('name="response_format"')}json\r\n--${boundary}--\r\n`),
  ]);
  return { contentType: `multipart/form-data; boundary=${boundary}`, body };
}
