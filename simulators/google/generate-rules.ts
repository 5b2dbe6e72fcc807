import {
  badValue,
  isFlag,
  isInteger,
  isLike,
  isList,
  isNumber,
  isOneOf,
  isRecord,
  isText,
  type Problem,
} from "../shared/check.ts";
import type { Size } from "../shared/images/formats.ts";
import { sizeOfRatio } from "../shared/images/picture.ts";
import { readImage } from "../shared/images/read-image.ts";
import { stringOr, asArray, asObject, isGiven, type JsonObject } from "../shared/json.ts";
import { both, first, list, record, type Shape, value, values } from "../shared/shape.ts";
import { listIn } from "./native-body.ts";
import { checkHistory } from "./native-history.ts";
import { checkOptions } from "./native-options.ts";

const ratios = ["1:1", "1:4", "1:8", "2:3", "3:2", "3:4", "4:1", "4:3", "4:5", "5:4", "8:1", "9:16", "16:9", "21:9"];

/** Sides of a square, and its output tokens, for most models and for the professional ones. */
const sizes: { readonly [name: string]: { readonly side: number; readonly tokens: number; readonly pro: number } } = {
  "512": { side: 512, tokens: 747, pro: 1_120 },
  "1K": { side: 1_024, tokens: 1_120, pro: 1_120 },
  "2K": { side: 2_048, tokens: 1_680, pro: 1_120 },
  "4K": { side: 4_096, tokens: 2_520, pro: 2_000 },
};
/** The first image model knows one size only. */
const firstModelTokens = 1_290;

const blobShape = record(
  { mimeType: value(isText), data: value(isText), displayName: value(isText) },
  { required: ["mimeType", "data"] },
);
const fileShape = record(
  { mimeType: value(isText), fileUri: value(isText), displayName: value(isText) },
  { required: ["fileUri"] },
);

/** A part has one of these. */
const dataShapes: { readonly [name: string]: Shape } = {
  text: value(isText),
  inlineData: blobShape,
  fileData: fileShape,
  functionCall: record({ id: value(isText), name: value(isText), args: value(isRecord) }, { required: ["name"] }),
  functionResponse: record(
    {
      id: value(isText),
      name: value(isText),
      response: value(isRecord),
      parts: list(record({ inlineData: blobShape, fileData: fileShape }), 1),
    },
    { required: ["name", "response"] },
  ),
  executableCode: record({ id: value(isText), language: value(isText), code: value(isText) }, { required: ["code"] }),
  codeExecutionResult: record({ id: value(isText), outcome: value(isText), output: value(isText) }),
};

const partShape = both(
  record({
    ...dataShapes,
    thought: value(isFlag),
    thoughtSignature: value(isText),
    videoMetadata: value(isRecord),
    mediaResolution: value(isRecord),
  }),
  (part, field) => {
    const given = Object.keys(asObject(part)).filter((name) => Object.hasOwn(dataShapes, name));
    return given.length > 1 ? badValue(field, "oneof field 'data' is already set") : null;
  },
);

const parts: Shape = (given, field) => list(partShape, 1)(Array.isArray(given) ? given : [given], field);

const contentShape = record({ role: value(isOneOf("user", "model", "function")), parts }, { required: ["parts"] });

const systemShape = record({ role: value(isText), parts }, { required: ["parts"] });

const toolShape = record({
  functionDeclarations: list(
    record(
      {
        ...values({ description: isText, parameters: isRecord, parametersJsonSchema: isRecord, behavior: isText }),
        ...values({ response: isRecord, responseJsonSchema: isRecord }),
        name: value(isLike(/^[a-zA-Z_][\w.:-]{0,127}$/, "a name of letters, digits, _, ., : and -")),
      },
      { required: ["name"] },
    ),
  ),
  ...values({ googleSearch: isRecord, urlContext: isRecord, codeExecution: isRecord, googleMaps: isRecord }),
  ...values({ computerUse: isRecord, fileSearch: isRecord, googleSearchRetrieval: isRecord }),
});

const toolConfigShape = record({
  functionCallingConfig: record({
    mode: value(isOneOf("AUTO", "ANY", "NONE", "VALIDATED", "MODE_UNSPECIFIED")),
    allowedFunctionNames: value(isList),
  }),
  retrievalConfig: value(isRecord),
  includeServerSideToolInvocations: value(isFlag),
});

const configShape = record({
  ...values({
    candidateCount: isInteger(1, 8),
    frequencyPenalty: isNumber(-2, 2),
    maxOutputTokens: isInteger(1, 1_000_000),
    mediaResolution: isText,
    presencePenalty: isNumber(-2, 2),
    responseFormat: isRecord,
    responseJsonSchema: isRecord,
    responseMimeType: isText,
    responseSchema: isRecord,
    seed: isInteger(-2_147_483_648, 2_147_483_647),
    stopSequences: isList,
    temperature: isNumber(0, 2),
    topK: isNumber(0, 1_000),
    topP: isNumber(0, 1),
  }),
  responseModalities: list(value(isOneOf("TEXT", "IMAGE", "AUDIO"))),
  speechConfig: value(isRecord),
  imageConfig: record({
    aspectRatio: value(isOneOf(...ratios)),
    imageSize: value(isOneOf(...Object.keys(sizes))),
  }),
  thinkingConfig: record({
    includeThoughts: value(isFlag),
    thinkingBudget: value(isInteger(-1, 100_000)),
    thinkingLevel: value(isText),
  }),
});

const requestShape: Shape = record(
  {
    contents: (given, field) => list(contentShape, 1)(listIn(given), field),
    systemInstruction: systemShape,
    generationConfig: configShape,
    tools: (given, field) => list(toolShape)(listIn(given), field),
    toolConfig: toolConfigShape,
    ...values({ safetySettings: isList, serviceTier: isText, store: isFlag, cachedContent: isText }),
    ...values({ labels: isRecord, continuationToken: isText, model: isText }),
  },
  { required: ["contents"] },
);

/** True for models that draw. */
export function isImageModel(model: string): boolean {
  return /image|nano-banana/.test(model);
}

/** True for the first model that draws: one size, no thoughts. */
export function isFirstImageModel(model: string): boolean {
  return model.startsWith("gemini-2.");
}

/** The first violation of a request, or null. */
export function checkGenerate(body: unknown, model: string): Problem | null {
  return (
    requestShape(body, "") ??
    checkModel(asObject(asObject(body)["generationConfig"]), model) ??
    checkImages(body) ??
    checkHistory(asObject(body), model) ??
    checkOptions(asObject(body), model)
  );
}

function checkModel(config: JsonObject, model: string): Problem | null {
  const drawing = asArray(config["responseModalities"]).includes("IMAGE");
  if (!isImageModel(model)) {
    if (drawing)
      return badConfig("response_modalities", "the model does not support the requested response modalities: image");
    return isGiven(config["imageConfig"]) ? badConfig("image_config", "the model does not support it") : null;
  }
  if (Number(config["candidateCount"] ?? 1) > 1)
    return badConfig("candidate_count", "multiple candidates are not enabled");
  const sized = isGiven(asObject(config["imageConfig"])["imageSize"]);
  return sized && isFirstImageModel(model)
    ? badConfig("image_config.image_size", "the model does not support it")
    : null;
}

function badConfig(field: string, message: string): Problem {
  return badValue(`generation_config.${field}`, message);
}

/** Inline images must match their declared type. */
function checkImages(body: unknown): Problem | null {
  return first(inlineImages(asObject(body)), (bytes) => {
    if (readImage(bytes) !== null) return null;
    return badValue("contents.parts.inline_data", "unable to process input image");
  });
}

/** The bytes of the images that came along. */
export function inlineImages(body: JsonObject): Buffer[] {
  const all = listIn(body["contents"]).flatMap((content) => listIn(asObject(content)["parts"]));
  const blobs = all.map((part) => asObject(asObject(part)["inlineData"]));
  const images = blobs.filter(({ mimeType }) => String(mimeType).startsWith("image/"));
  return images.map(({ data }) => Buffer.from(String(data), "base64"));
}

/** The size of the picture that is asked for. Without a ratio it is that of the last image that came along. */
export function askedSize(body: JsonObject): Size {
  const config = asObject(asObject(body["generationConfig"])["imageConfig"]);
  const side = sizes[stringOr(config["imageSize"], "1K")]?.side ?? 1_024;
  const source = inlineImages(body)
    .map(readImage)
    .findLast((head) => head !== null);
  const ratio = source === undefined ? "1:1" : `${source.width}:${source.height}`;
  return sizeOfRatio(stringOr(config["aspectRatio"], ratio), side);
}

/** Output tokens of an image. */
export function pictureTokens(body: JsonObject, model: string): number {
  if (isFirstImageModel(model)) return firstModelTokens;
  const config = asObject(asObject(body["generationConfig"])["imageConfig"]);
  const size = sizes[stringOr(config["imageSize"], "1K")];
  return (model.includes("pro") ? size?.pro : size?.tokens) ?? 0;
}
