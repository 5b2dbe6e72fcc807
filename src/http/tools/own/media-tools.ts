import { type JsonObject, objectsOf, parseObject, stringOf } from "../../../core/index.ts";
import { imageEditRequest, imageGenerationRequest, speechRequest, transcriptionForm } from "../../../media/index.ts";
import type { ToolAnswer, ToolContent } from "../../../mcp/index.ts";
import { videoRequest } from "../../../videos/index.ts";
import { speechRoute } from "../../audio/speech.ts";
import { transcriptionsRoute } from "../../audio/transcriptions.ts";
import { imageEditsRoute } from "../../images/edits.ts";
import { imageGenerationsRoute } from "../../images/generations.ts";
import { createVideoRoute } from "../../videos/create.ts";
import { askRoute, bodyOf, headersOf, jsonOf, refusalOf } from "./ask-route.ts";
import { imageTypeOf, mediaTypeOf, soundTypeOf, type ToolFile, withFiles } from "./files.ts";
import { answerBegun } from "./jobs.ts";
import type { OwnTool } from "./own-tool.ts";

const FILE = "base64, a data URL, or an address";
const imageFields = ["model", "prompt", "n", "size", "quality", "output_format", "background"];

export const imageGenerate: OwnTool = {
  name: "image_generate",
  title: "Generate images",
  description: "Generates images from a description.",
  input: imageGenerationRequest,
  shown: imageFields,
  model: "image",
  isReadOnly: false,
  call: async (call) => answerImages(await askRoute(imageGenerationsRoute, call, { body: bodyOf(call) })),
};

export const imageEdit: OwnTool = {
  name: "image_edit",
  title: "Edit images",
  description: "Changes an image, or makes one of several, by a description.",
  input: imageEditRequest,
  shown: ["model", "prompt", "image", "mask", ...imageFields.slice(2)],
  members: {
    image: {
      anyOf: [{ type: "string" }, { type: "array", items: { type: "string" }, minItems: 1 }],
      description: `The image: ${FILE}. Several as a list.`,
    },
    mask: { type: "string", description: `Transparent where the image is to change: ${FILE}.` },
  },
  required: ["image"],
  model: "image_edit",
  isReadOnly: false,
  call: (call) =>
    withFiles(call, async (readFile) => {
      const { image, images = image, mask, ...body } = bodyOf(call);
      const files = (Array.isArray(images) ? images : [images]).map((each) => readFile(each, "image"));
      const form = new FormData();
      for (const [name, value] of Object.entries(body)) if (value != null) form.append(name, textOf(value));
      const read = await Promise.all(files);
      for (const [index, file] of read.entries()) {
        const type = file.mediaType ?? imageTypeOf(file.bytes);
        form.append(read.length > 1 ? "image[]" : "image", blobOf({ ...file, mediaType: type }), nameOf(type, index));
      }
      if (mask != null) {
        const file = await readFile(mask, "mask");
        form.append("mask", blobOf({ ...file, mediaType: file.mediaType ?? imageTypeOf(file.bytes) }), "mask.png");
      }
      return answerImages(await askRoute(imageEditsRoute, call, { body: form }));
    }),
};

/** The value of a form's field. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function blobOf({ bytes, mediaType }: ToolFile): Blob {
  return new Blob([bytes], { type: mediaType ?? "" });
}

/** Providers read the type of a file from its name too. */
function nameOf(type: string, index = 0): string {
  return `file-${index}.${type.slice(type.indexOf("/") + 1)}`;
}

async function answerImages(response: Response): Promise<ToolAnswer> {
  const refused = await refusalOf(response);
  if (refused !== undefined) return refused;
  const { data, ...answer } = await jsonOf(response);
  const content: ToolContent[] = [];
  const described: JsonObject[] = [];
  for (const { b64_json: base64, ...image } of objectsOf(data)) {
    described.push(image);
    if (typeof base64 === "string")
      content.push({ type: "image", data: base64, mimeType: imageTypeOf(Buffer.from(base64.slice(0, 16), "base64")) });
    else if (typeof image["url"] === "string")
      content.push({ type: "resource_link", uri: image["url"], name: "image" });
  }
  return { result: { content, structuredContent: { ...answer, data: described } }, headers: headersOf(response) };
}

export const speechGenerate: OwnTool = {
  name: "speech_generate",
  title: "Say a text",
  description: "Turns a text into speech.",
  input: speechRequest,
  shown: ["model", "input", "voice", "instructions", "response_format", "speed"],
  model: "speech",
  isReadOnly: false,
  async call(call) {
    const response = await askRoute(speechRoute, call, { body: bodyOf(call) });
    const refused = await refusalOf(response);
    if (refused !== undefined) return refused;
    const data = Buffer.from(await response.arrayBuffer()).toString("base64");
    const mimeType = mediaTypeOf(response.headers.get("content-type")) ?? "audio/mpeg";
    return { result: { content: [{ type: "audio", data, mimeType }] }, headers: headersOf(response) };
  },
};

export const audioTranscribe: OwnTool = {
  name: "audio_transcribe",
  title: "Transcribe audio",
  description: "Writes down what is spoken in a sound file.",
  input: transcriptionForm,
  shown: ["model", "audio", "language", "prompt", "response_format"],
  members: { audio: { type: "string", description: `The sound: ${FILE}.` } },
  required: ["audio"],
  model: "transcription",
  isReadOnly: false,
  call: (call) =>
    withFiles(call, async (readFile) => {
      const { audio, ...body } = bodyOf(call);
      const file = await readFile(audio, "audio");
      const form = new FormData();
      for (const [name, value] of Object.entries(body)) {
        // A list is a repeated field.
        if (Array.isArray(value)) for (const each of value) form.append(`${name}[]`, textOf(each));
        else if (value != null) form.append(name, textOf(value));
      }
      const type = file.mediaType ?? soundTypeOf(file.bytes);
      form.append("file", blobOf({ ...file, mediaType: type }), nameOf(type));
      return answerTranscript(await askRoute(transcriptionsRoute, call, { body: form }));
    }),
};

/** JSON, or the text alone. */
async function answerTranscript(response: Response): Promise<ToolAnswer> {
  const refused = await refusalOf(response);
  if (refused !== undefined) return refused;
  const body = await response.text();
  const json = parseObject(body);
  const text = json === undefined ? body : stringOf(json["text"]);
  const content: ToolContent[] = [{ type: "text", text }];
  return { result: { content, ...(json && { structuredContent: json }) }, headers: headersOf(response) };
}

export const videoGenerate: OwnTool = {
  name: "video_generate",
  title: "Generate a video",
  description:
    "Generates a video from a description. It takes minutes: one that is not done soon returns its id for job_get.",
  input: videoRequest,
  shown: ["model", "prompt", "seconds", "size"],
  model: "video",
  isReadOnly: false,
  async call(call) {
    const response = await askRoute(createVideoRoute, call, { body: bodyOf(call) });
    return answerBegun(call, "video", response);
  },
};
