/** Reads the answers of targets that others may follow. */
import { GatewayError, listOf, objectOf, parseObject } from "../../core/index.ts";
import { isRefusal, type StreamReader, translations, type UpstreamContext } from "../../dialects/index.ts";
import type { WholeReply } from "../../sending/index.ts";
import { callIdOf } from "../exchange-text.ts";
import type { CallPlan } from "../plan-call.ts";

type AskedPlan = Pick<CallPlan, "target" | "order">;

/** The reader of a target's stream; undefined for work other than text, which never moves once its answer has begun. */
export function contentReaderOf(plan: AskedPlan): StreamReader | undefined {
  const { dialect } = plan.target.operation;
  const upstream = contextOf(plan);
  if (dialect !== undefined) return translations[dialect].streamReader(upstream);
  return plan.order.operation === "completion" ? completionReader(upstream) : undefined;
}

/** Whether the answer is a refusal of the content. */
export function hasRefused(plan: AskedPlan, { answers: [{ answer }] }: WholeReply): boolean {
  const { dialect } = plan.target.operation;
  if (dialect === undefined) return false;
  try {
    return isRefusal(translations[dialect].readAnswer(answer, contextOf(plan)).choices);
  } catch (thrown) {
    if (thrown instanceof GatewayError) return false;
    throw thrown;
  }
}

function contextOf({ target: { operation, route, model }, order }: AskedPlan): UpstreamContext {
  const { thinkTags, reasoningField } = operation.facts?.(model) ?? {};
  const callId = callIdOf(order.id);
  return { origin: route.prefix, callId, model, readUsage: () => undefined, thinkTags, reasoningField };
}

/** The events of legacy completions are those of chat, with a text in place of a delta. */
function completionReader(upstream: UpstreamContext): StreamReader {
  const chat = translations.chat.streamReader(upstream);
  return {
    read(data) {
      const chunk = parseObject(data);
      if (chunk === undefined || !Array.isArray(chunk["choices"])) return chat.read(data);
      const choices = listOf(chunk["choices"]).map((choice) => {
        const { text, ...others } = objectOf(choice) ?? {};
        return { ...others, delta: { content: text } };
      });
      return chat.read(JSON.stringify({ ...chunk, choices }));
    },
    close: () => chat.close(),
  };
}
