import type { Provider } from "../provider.ts";
import { chat } from "./chat.ts";
import { failures } from "./errors.ts";
import { countTokens, messages } from "./messages.ts";
import { models } from "./models.ts";

/** This version still accepts sampling parameters (`docs/wire/anthropic.md`). */
const VERSION = "2023-06-01";

export const anthropic: Provider = {
  priceProvider: "anthropic",
  // The compatible layer reads `authorization`, the native API `x-api-key`.
  headers: (key) => ({ authorization: `Bearer ${key}`, "x-api-key": key, "anthropic-version": VERSION }),
  operations: { chat, messages, count_tokens: countTokens },
  models,
  failures,
};
