import { type JsonObject, objectOf, objectsOf, stringOf } from "../../../core/index.ts";
import { chatRequest } from "../../../dialects/index.ts";
import { embeddingsRequest } from "../../../media/index.ts";
import { chatCompletionsRoute } from "../../chat/chat-completions.ts";
import { embeddingsRoute } from "../../embeddings/embeddings.ts";
import { askJson, bodyOf } from "./ask-route.ts";
import type { OwnTool } from "./own-tool.ts";

export const embed: OwnTool = {
  name: "embed",
  title: "Embed texts",
  description: "Turns texts into vectors.",
  input: embeddingsRequest,
  shown: ["model", "input", "dimensions"],
  members: {
    input: {
      anyOf: [{ type: "string" }, { type: "array", items: { type: "string" }, minItems: 1 }],
      description: "A text, or a list of texts.",
    },
  },
  model: "embedding",
  isReadOnly: true,
  call: (call) => askJson(embeddingsRoute, call, { body: bodyOf(call) }),
};

export const chat: OwnTool = {
  name: "chat",
  title: "Ask a model",
  description: "Asks another language model, with the messages of a chat completion.",
  input: chatRequest,
  shown: ["model", "messages", "max_completion_tokens"],
  model: "chat",
  isReadOnly: true,
  call: (call) => askJson(chatCompletionsRoute, call, { body: bodyOf(call), text: textOfChoices }),
};

function textOfChoices({ choices }: JsonObject): string {
  return objectsOf(choices)
    .map(({ message }) => {
      const { content, tool_calls: calls } = objectOf(message) ?? {};
      return stringOf(content) || (calls === undefined ? "" : JSON.stringify(calls));
    })
    .join("\n\n");
}
