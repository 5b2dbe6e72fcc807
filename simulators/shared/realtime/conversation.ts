import { asArray, asObject, type JsonObject, stringOr } from "../json.ts";

/** An item of a conversation, with its tokens by kind. */
export interface Item {
  readonly id: string;
  readonly value: JsonObject;
  readonly tokens: Tokens;
}

export interface Tokens {
  readonly text: number;
  readonly audio: number;
  readonly image: number;
}

const charactersPerToken = 4;
const inputTokensPerSecond = 10;
const imageTokens = 258;

export const textTokens = (text: string): number => Math.ceil(text.length / charactersPerToken);

/** Tokens of audio that a user sent. */
export function audioTokens(bytes: number, bytesPerSecond: number): number {
  return Math.ceil((inputTokensPerSecond * bytes) / bytesPerSecond);
}

export function addTokens(one: Tokens, other: Tokens): Tokens {
  return { text: one.text + other.text, audio: one.audio + other.audio, image: one.image + other.image };
}

export const noTokens: Tokens = { text: 0, audio: 0, image: 0 };

/** The tokens of an item that a client creates. */
export function tokensOf(item: JsonObject, bytesPerSecond: number): Tokens {
  let tokens: Tokens = { text: textTokens(stringOr(item["output"] ?? item["arguments"], "")), audio: 0, image: 0 };
  for (const entry of asArray(item["content"])) {
    const part = asObject(entry);
    const { text, audio, image_url: image } = part;
    if (typeof text === "string") tokens = addTokens(tokens, { ...noTokens, text: textTokens(text) });
    if (typeof audio === "string") {
      const bytes = Buffer.from(audio, "base64").length;
      tokens = addTokens(tokens, { ...noTokens, audio: audioTokens(bytes, bytesPerSecond) });
    }
    if (typeof image === "string") tokens = addTokens(tokens, { ...noTokens, image: imageTokens });
  }
  return tokens;
}

/** The last text of the user, which selects the scenario. */
export function lastUserText(items: readonly Item[]): string {
  const last = items.findLast(({ value }) => value["role"] === "user");
  return asArray(last?.value["content"])
    .map((part) => stringOr(asObject(part)["text"] ?? asObject(part)["transcript"], ""))
    .join(" ");
}
