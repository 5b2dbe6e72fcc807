import type { Provider } from "../provider.ts";
import { embeddingsOperation } from "../shared/embeddings-operation.ts";
import type { Preset } from "./presets.ts";

/** Nothing for an upstream that has none. */
export function embeddingsOf({ embeddings }: Preset): Provider["operations"] {
  return embeddings === undefined ? {} : { embeddings: embeddingsOperation(embeddings) };
}
