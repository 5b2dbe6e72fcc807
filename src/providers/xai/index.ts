import type { Provider } from "../provider.ts";
import { bearer } from "../shared/auth.ts";
import { batches } from "./batches.ts";
import { chat } from "./chat.ts";
import { failures } from "./errors.ts";
import { imageEdit, imageGeneration } from "./images.ts";
import { realtime } from "./realtime.ts";
import { responses } from "./responses.ts";
import { models } from "./models.ts";
import { speech } from "./speech.ts";
import { transcription } from "./transcriptions.ts";
import { videoEdit, videoExtension, videoGeneration, videos } from "./videos.ts";

export const xai: Provider = {
  priceProvider: "x-ai",
  headers: bearer,
  operations: {
    chat,
    responses,
    image_generation: imageGeneration,
    image_edit: imageEdit,
    speech,
    transcription,
    realtime,
    video_generation: videoGeneration,
    video_edit: videoEdit,
    video_extension: videoExtension,
  },
  videos,
  batches,
  models,
  failures,
};
