import type { Provider } from "../provider.ts";
import { chat } from "./chat.ts";
import { failures } from "./errors.ts";
import { countTokens, messages } from "./messages.ts";
import { models } from "./models.ts";

/** The version that still takes sampling parameters (`docs/wire/anthropic.md`). */
const VERSION = "2023-06-01";

export const anthropic: Provider = {
  priceProvider: "anthropic",
  // The compatible layer reads the first, the native API the second.
  headers: (key) => ({ authorization: `Bearer ${key}`, "x-api-key": key, "anthropic-version": VERSION }),
  operations: { chat, messages, count_tokens: countTokens },
  models,
  failures,
};
