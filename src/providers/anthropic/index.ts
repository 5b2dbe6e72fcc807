import type { Provider, UpstreamOperation } from "../provider.ts";
import { batches } from "./batches.ts";
import { chat } from "./chat.ts";
import { failures } from "./errors.ts";
import { files } from "./files.ts";
import { countTokens, messages, messagesWithCache } from "./messages.ts";
import { models } from "./models.ts";

/** This version still accepts sampling parameters (`docs/wire/anthropic.md`). */
const VERSION = "2023-06-01";

/** Hosts with Anthropic's API whose counts of input contain the cache (`docs/wire/anthropic.md`). */
const includingHosts = /(^|\.)(moonshot\.(ai|cn)|kimi\.(com|ai)|dashscope(-intl|-us)?\.aliyuncs\.com)$/;

const usual = provider(messages);
const including = provider(messagesWithCache);

/** Anthropic, or another upstream with its API. */
export function anthropicOf({
  baseUrl,
  usageIncludesCache,
}: {
  baseUrl: string;
  usageIncludesCache?: boolean | undefined;
}): Provider {
  return (usageIncludesCache ?? includingHosts.test(new URL(baseUrl).hostname)) ? including : usual;
}

function provider(native: UpstreamOperation): Provider {
  return {
    priceProvider: "anthropic",
    // The compatible layer reads `authorization`, the native API `x-api-key`.
    headers: (key) => ({ authorization: `Bearer ${key}`, "x-api-key": key, "anthropic-version": VERSION }),
    operations: { chat, messages: native, count_tokens: countTokens },
    files,
    batches,
    models,
    failures,
  };
}
