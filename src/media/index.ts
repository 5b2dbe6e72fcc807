export {
  speechCodec,
  speechRequest,
  transcriptionCodec,
  transcriptionForm,
  translationCodec,
  translationForm,
} from "./audio/index.ts";
export type { MediaCodec, MediaEvents } from "./codec.ts";
export { completionCodec, completionRequest } from "./completions/index.ts";
export { embeddingsCodec, embeddingsRequest } from "./embeddings/index.ts";
export {
  imageEditCodec,
  imageEditForm,
  imageEditRequest,
  imageGenerationCodec,
  imageGenerationRequest,
} from "./images/index.ts";
export { rerankCodec, rerankRequest } from "./rerank/index.ts";
export { moderationCodec, moderationRequest } from "./moderations/index.ts";
