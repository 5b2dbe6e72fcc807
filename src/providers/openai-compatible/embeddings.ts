import type { Provider } from "../provider.ts";
import { embeddingsOperation } from "../shared/embeddings-operation.ts";
import type { Preset } from "./presets.ts";

/** Empty if the upstream has no embeddings. */
export function embeddingsOf({ embeddings }: Preset): Provider["operations"] {
  return embeddings === undefined ? {} : { embeddings: embeddingsOperation(embeddings) };
}
