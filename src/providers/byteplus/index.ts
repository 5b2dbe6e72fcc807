import type { Provider } from "../provider.ts";
import { bearer } from "../shared/auth.ts";
import { chat } from "./chat.ts";
import { embeddings } from "./embeddings.ts";
import { failures } from "./errors.ts";
import { files } from "./files.ts";
import { imageEdit, imageGeneration } from "./images.ts";
import { responses } from "./responses.ts";
import { toolHeaders } from "./hosted-tools.ts";
import { models } from "./models.ts";
import { videoGeneration, videos } from "./videos.ts";

export const byteplus: Provider = {
  priceProvider: "byteplus",
  headers: (key, path) => (path === responses.path ? { ...bearer(key), ...toolHeaders } : bearer(key)),
  operations: {
    chat,
    responses,
    embeddings,
    image_generation: imageGeneration,
    image_edit: imageEdit,
    video_generation: videoGeneration,
  },
  videos,
  files,
  models,
  failures,
};
