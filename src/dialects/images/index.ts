import { errorBody, type GatewayError } from "../../core/index.ts";
import type { MediaCodec } from "../dialect.ts";
import { boundImageEdit, boundImages, type ImagesBody, measuredMembers } from "./bound.ts";
import { countImages } from "./delivered.ts";
import { ImageStreamObserver } from "./observe-stream.ts";
import type { ImageEditRequest, ImageGenerationRequest } from "./request.ts";
import { eventText, type ImageEvents, writeImageEvents } from "./write-events.ts";

export {
  imageEditForm,
  type ImageEditRequest,
  imageEditRequest,
  type ImageGenerationRequest,
  imageGenerationRequest,
} from "./request.ts";

/**
 * Bytes of one event. No provider makes an image of more than 4096 by 4096 pixels; not compressed at all, with four bytes
 * a pixel, that is 86 MiB of base64. A longer event would pass unread, and its stream be taken for a broken one.
 */
const EVENT_BYTES_MAX = 96 * 1024 * 1024;

/** What both routes have in common. */
function imagesCodec<Body extends ImagesBody>(events: ImageEvents, bound: MediaCodec<Body>["bound"]): MediaCodec<Body> {
  return {
    measured: measuredMembers,
    bound,
    // All of what comes out is images, which are counted.
    outputBytes: () => 0,
    counted: countImages,
    events: {
      observe(body, readUsage) {
        const { likelyIn = {} } = boundImages(body, (text) => text.length, []);
        return new ImageStreamObserver(readUsage, likelyIn);
      },
      eventBytesMax: EVENT_BYTES_MAX,
      errorEvent: (error) => eventText({ type: "error", ...errorOf(error) }),
      ofAnswer: (body, answer) => writeImageEvents(events, body, answer),
    },
  };
}

/** OpenAI's object; its shape names no request. */
function errorOf(error: GatewayError): object {
  return errorBody("openai", error, "");
}

/** OpenAI's images, from a text. */
export const imageGenerationCodec = imagesCodec<ImageGenerationRequest>("image_generation", boundImages);

/** OpenAI's edits of images. */
export const imageEditCodec = imagesCodec<ImageEditRequest>("image_edit", boundImageEdit);
