import { answerChat, type ChatWire } from "../shared/chat/wire.ts";
import { asObject } from "../shared/json.ts";
import { refuseLateSystem } from "../shared/limits.ts";
import type { Answer, Call, Route } from "../shared/types.ts";
import { groqWire } from "./groq.ts";
import { moonshotWire } from "./moonshot.ts";
import { perplexityWire } from "./perplexity.ts";
import { plainWire } from "./plain.ts";

/** As the chat templates of Qwen and others have it, which local servers run. */
const genericWire: ChatWire = {
  ...plainWire("reasoning_content"),
  refuse: (body) => refuseLateSystem(body, () => "System message must be at the beginning."),
};

/** One simulator represents many hosts: the model's name selects the host's behaviour. */
function wireOf(model: string): ChatWire {
  if (model.startsWith("groq-")) return groqWire;
  if (model.startsWith("sonar")) return perplexityWire;
  return model.startsWith("kimi-") ? moonshotWire : genericWire;
}

function handle(call: Call): Answer {
  return answerChat(call, wireOf(String(asObject(call.body)["model"])));
}

/** Chat completions of any further OpenAI-compatible provider. */
export const chatRoutes: readonly Route[] = [
  { method: "POST", path: "/openai-compatible/v1/chat/completions", handle },
];
