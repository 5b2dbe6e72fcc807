import { jsonAnswer, type Route } from "../shared/types.ts";

const models = [
  { name: "command-a-03-2025", endpoints: ["chat", "generate"], context_length: 256_000 },
  { name: "embed-v4.0", endpoints: ["embed"], context_length: 128_000 },
  { name: "rerank-v3.5", endpoints: ["rerank"], context_length: 4_096 },
  { name: "rerank-v5.0-fast", endpoints: ["rerank"], context_length: 32_768 },
].map((model) => ({ ...model, finetuned: false, tokenizer_url: "", default_endpoints: [] }));

/** The list of models, of all endpoints. */
export const modelRoute: Route = {
  method: "GET",
  path: "/cohere/v1/models",
  handle: () => jsonAnswer({ models, next_page_token: "" }),
};
