import type { Operation } from "../core/index.ts";
import type { ModelKind, ModelPrice } from "../pricing/index.ts";
import type { Provider } from "../providers/index.ts";

/** The operations that models of each kind are for. Text is generated in every dialect, translated if needed. */
const operationsOfKind: Readonly<Partial<Record<ModelKind, readonly Operation[]>>> = {
  chat: ["chat", "messages", "responses"],
  responses: ["responses"],
  embeddings: ["embeddings"],
  image: ["image_generation", "image_edit"],
  speech: ["speech"],
  transcription: ["transcription", "translation", "realtime_transcription"],
  realtime: ["realtime"],
  video: ["video_generation", "video_edit", "video_extension"],
};

/** What a model can be called for: by its kind, if a catalog lists it, and as far as its provider has it. */
export function operationsOf({ operations }: Provider, { kind = "chat" }: Pick<ModelPrice, "kind">): Operation[] {
  const all = operationsOfKind[kind] ?? [];
  const generatesText = all.some((operation) => textOperations.has(operation) && operations[operation] !== undefined);
  return all.filter(
    (operation) => operations[operation] !== undefined || (generatesText && textOperations.has(operation)),
  );
}

const textOperations: ReadonlySet<Operation> = new Set<Operation>(["chat", "messages", "responses"]);
