import { limits } from "../../core/index.ts";
import type { MediaCodec } from "../codec.ts";
import { errorEvent } from "../named-events.ts";
import { boundImageEdit, boundImages, type ImagesBody, opaqueFields } from "./bound.ts";
import { countImages, withoutFailures } from "./delivered.ts";
import { ImageStreamObserver } from "./observe-stream.ts";
import { OpenaiImageStream } from "./openai-stream.ts";
import { imageReferences } from "./references.ts";
import type { ImageEditRequest, ImageGenerationRequest } from "./request.ts";
import { type ImageEvents, writeImageEvents } from "./write-events.ts";

export {
  imageEditForm,
  type ImageEditRequest,
  imageEditRequest,
  type ImageGenerationRequest,
  imageGenerationRequest,
} from "./request.ts";

/** BytePlus makes JPEG unless it is asked for another format. */
function formatOf(body: ImagesBody & { output_format?: string | null | undefined }): string {
  return body.output_format ?? "jpeg";
}

/** The common part of both routes. */
function imagesCodec<Body extends ImagesBody>(events: ImageEvents, bound: MediaCodec<Body>["bound"]): MediaCodec<Body> {
  return {
    measured: opaqueFields,
    references: imageReferences,
    bound,
    // The whole output is images, which are counted.
    outputBytes: () => 0,
    counted: countImages,
    events: {
      observe: (_body, readUsage, { expectedInput = {} }) => new ImageStreamObserver(readUsage, expectedInput),
      eventBytesMax: limits.imageEventBytesMax,
      errorEvent,
      ofAnswer: (body, answer) => writeImageEvents(events, body, answer),
      forOpenai: (observer, body) => new OpenaiImageStream(observer, events, formatOf(body)),
    },
    withoutFailures,
  };
}

/** OpenAI's images, from a text. */
export const imageGenerationCodec = imagesCodec<ImageGenerationRequest>("image_generation", boundImages);

/** OpenAI's edits of images. */
export const imageEditCodec = imagesCodec<ImageEditRequest>("image_edit", boundImageEdit);
