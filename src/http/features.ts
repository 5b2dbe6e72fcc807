import { accountFeature } from "./account/index.ts";
import { adminFeature } from "./admin/feature.ts";
import { audioFeature } from "./audio/index.ts";
import { batchesFeature } from "./batches/index.ts";
import { chatFeature } from "./chat/index.ts";
import { completionsFeature } from "./completions/index.ts";
import { consoleFeature } from "./console/index.ts";
import { conversationsFeature } from "./conversations/index.ts";
import { documentationFeature } from "./documentation/index.ts";
import { embeddingsFeature } from "./embeddings/index.ts";
import type { Feature } from "./feature.ts";
import { filesFeature } from "./files/index.ts";
import { geminiFeature } from "./gemini/index.ts";
import { imagesFeature } from "./images/index.ts";
import { modelsFeature } from "./models/index.ts";
import { moderationsFeature } from "./moderations/index.ts";
import { platformFeature } from "./platform/index.ts";
import { realtimeFeature } from "./realtime/index.ts";
import { rerankFeature } from "./rerank/index.ts";
import { responsesFeature } from "./responses/index.ts";
import { signInFeature } from "./sign-in/index.ts";
import { toolConnectionsFeature, toolsFeature } from "./tools/index.ts";
import { videosFeature } from "./videos/index.ts";
import { webFeature } from "./web/index.ts";

/** All HTTP features of the gateway, in the order of the OpenAPI document. */
export const features: readonly Feature[] = [
  platformFeature,
  documentationFeature,
  consoleFeature,
  modelsFeature,
  accountFeature,
  chatFeature,
  responsesFeature,
  geminiFeature,
  conversationsFeature,
  completionsFeature,
  embeddingsFeature,
  moderationsFeature,
  rerankFeature,
  imagesFeature,
  videosFeature,
  audioFeature,
  realtimeFeature,
  filesFeature,
  batchesFeature,
  webFeature,
  toolsFeature,
  toolConnectionsFeature,
  adminFeature,
  signInFeature,
];
