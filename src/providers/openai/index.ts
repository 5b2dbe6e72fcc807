import type { Provider } from "../provider.ts";
import { bearer } from "../shared/auth.ts";
import { completionOperation, moderationOperation } from "../shared/plain-operations.ts";
import { speechOperation } from "../shared/audio/speech-operation.ts";
import { batches } from "./batches.ts";
import { chat } from "./chat.ts";
import { embeddings } from "./embeddings.ts";
import { failures } from "./errors.ts";
import { files } from "./files.ts";
import { imageEdit, imageGeneration } from "./images.ts";
import { realtime } from "./realtime.ts";
import { countResponseTokens, responses } from "./responses.ts";
import { models } from "./models.ts";
import { transcription, translation } from "./transcriptions.ts";
import { videoEdit, videoExtension, videoGeneration, videos } from "./videos.ts";

export const openai: Provider = {
  priceProvider: "openai",
  headers: bearer,
  operations: {
    chat,
    responses,
    count_response_tokens: countResponseTokens,
    completion: completionOperation,
    embeddings,
    moderation: moderationOperation,
    image_generation: imageGeneration,
    image_edit: imageEdit,
    speech: speechOperation,
    transcription,
    translation,
    realtime,
    realtime_transcription: realtime,
    video_generation: videoGeneration,
    video_edit: videoEdit,
    video_extension: videoExtension,
  },
  videos,
  files,
  batches,
  models,
  failures,
};
