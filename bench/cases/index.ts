import { body } from "./body.ts";
import type { BenchCase } from "./case.ts";
import { chat } from "./chat.ts";
import { geminiNative } from "./gemini-native.ts";
import { messagesBody } from "./messages-body.ts";
import { messagesNative, messagesStream } from "./messages-stream.ts";
import { stream } from "./stream.ts";

export type { BenchCall, BenchCase } from "./case.ts";
export { chat, geminiNative, messagesNative, stream };

/** In the order of the report. */
export const benchCases: readonly BenchCase[] = [
  chat,
  stream,
  messagesStream,
  messagesNative,
  geminiNative,
  body,
  messagesBody,
];
