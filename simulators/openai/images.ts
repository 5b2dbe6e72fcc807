import { badValue, isOneOf, isText, type Problem } from "../shared/check.ts";
import { type FieldKind, formBody, isFileField, isFileList } from "../shared/form.ts";
import { isReadableImage, pictureRoute, readImageUrl } from "../shared/images/links.ts";
import type { Size } from "../shared/images/formats.ts";
import { type ImageHead, readImage } from "../shared/images/read-image.ts";
import { stringOr, asArray, asObject, isGiven, isObject, type JsonObject } from "../shared/json.ts";
import { type FormPart, isFormType } from "../shared/multipart.ts";
import { isFile } from "../shared/form.ts";
import { list, record, type Shape, value, values } from "../shared/shape.ts";
import { type Answer, type Call, errorAnswer, type ErrorAnswer, isMissingModel, type Route } from "../shared/types.ts";
import { openaiErrors, openaiEventErrors, openaiFormRefusal, openaiRefusal } from "./errors.ts";
import { answerImages, type ImageTalk, picturesFolder } from "./image-answer.ts";
import { familyOf, imageFields, refuseImage } from "./image-rules.ts";

const generationDefault = "dall-e-2";
const editDefault = "gpt-image-1.5";
const sourcesMax = 16;
const sourceBytesMax = 50 * 1_048_576;
/** The assumed size of an image behind a URL or a file's id: nothing is fetched. */
const unseen: Size = { width: 1_024, height: 1_024 };

type Prepared = { readonly refused: ErrorAnswer } | { readonly body: JsonObject; readonly sources: readonly Size[] };

function generate(call: Call): Answer {
  const body = call.body;
  if (!isObject(body)) return errorAnswer(openaiErrors.forProblem({ kind: "not-json" }));
  const model = stringOr(body["model"], generationDefault);
  const fields = { ...imageFields(familyOf(model)), ...(model.startsWith("dall-e-3") ? { style: isStyle } : {}) };
  const problem = record(values(fields), { required: ["prompt"] })(body, "");
  if (problem !== null) return errorAnswer(openaiErrors.forProblem(problem));
  return finish({ call, body, model, sources: [], events: "image_generation" });
}

const isStyle = isOneOf("vivid", "natural");

function finish(talk: ImageTalk): Answer {
  if (isMissingModel(talk.model)) return errorAnswer(openaiErrors.modelNotFound(talk.model));
  const refusal = refuseImage(talk.body, familyOf(talk.model));
  return refusal === null ? answerImages(talk) : errorAnswer(refusal);
}

function edit(call: Call): Answer {
  const isForm = isFormType(call.headers["content-type"]);
  if (isForm && call.form === null) return errorAnswer(openaiFormRefusal());
  const prepared = isForm ? readForm(call.form ?? []) : readJson(call.body);
  if ("refused" in prepared) return errorAnswer(prepared.refused);
  const { body, sources } = prepared;
  return finish({ call, body, model: stringOr(body["model"], editDefault), sources, events: "image_edit" });
}

const formKinds: { readonly [name: string]: FieldKind } = {
  image: "files",
  mask: "file",
  n: "number",
  output_compression: "number",
  partial_images: "number",
  stream: "flag",
};

function readForm(form: readonly FormPart[]): Prepared {
  const body = formBody(form, formKinds);
  const files = { image: value(isFileList), mask: value(isFileField) };
  const shape = record({ ...editFields(body), ...files }, { required: ["image", "prompt"] });
  const problem = shape(body, "") ?? checkCount(body["image"], "image");
  if (problem !== null) return { refused: openaiErrors.forProblem(problem) };
  const images = asArray(body["image"]).filter(isFile);
  const heads = images.map(({ bytes }) => readImage(bytes));
  const refused = refuseFiles(images, heads, stringOr(body["model"], editDefault));
  if (refused !== null) return { refused };
  const sources = heads.filter((head) => head !== null);
  return isFile(body["mask"]) ? withMask(body, sources, readImage(body["mask"].bytes)) : { body, sources };
}

function editFields(body: JsonObject): { readonly [name: string]: Shape } {
  const family = familyOf(stringOr(body["model"], editDefault));
  const fidelity = family.tokens ? { input_fidelity: value(isOneOf("high", "low")) } : {};
  return { ...values(imageFields(family)), ...fidelity };
}

function checkCount(images: unknown, field: string): Problem | null {
  if (asArray(images).length <= sourcesMax) return null;
  return badValue(field, `expected at most ${sourcesMax} images`);
}

function refuseFiles(
  files: readonly FormPart[],
  heads: readonly (ImageHead | null)[],
  model: string,
): ErrorAnswer | null {
  const unread = heads.indexOf(null);
  if (unread >= 0) return invalidImage(unread);
  if (files.some(({ bytes }) => bytes.length > sourceBytesMax)) {
    return openaiRefusal("Image must be less than 50MB.", "image", "image_too_large", 413);
  }
  if (!model.startsWith("dall-e-2")) return null;
  const [head] = heads;
  if (heads.length === 1 && head?.format === "png" && head.width === head.height) return null;
  return openaiRefusal("Uploaded image must be one square PNG.", "image", "invalid_image");
}

function invalidImage(index: number): ErrorAnswer {
  const message = `Invalid image file or mode for image ${index + 1}, please check your image file.`;
  return openaiRefusal(message, null, "invalid_image_file");
}

/** A mask is a PNG as large as the first image. */
function withMask(body: JsonObject, sources: readonly Size[], mask: ImageHead | null): Prepared {
  const [first] = sources;
  if (mask === null || mask.format !== "png") {
    return {
      refused: openaiRefusal("Invalid mask image format - mask must be a PNG.", "mask", "invalid_image_format"),
    };
  }
  if (first === undefined || mask.width !== first.width || mask.height !== first.height) {
    return {
      refused: openaiRefusal("Invalid mask image - mask size does not match image size.", "mask", "invalid_mask"),
    };
  }
  return { body, sources: [...sources, mask] };
}

const reference = record({ image_url: value(isText), file_id: value(isText) });

function readJson(body: unknown): Prepared {
  if (!isObject(body)) return { refused: openaiErrors.forProblem({ kind: "not-json" }) };
  const shapes = { images: list(oneReference, 1), mask: oneReference };
  const shape = record({ ...editFields(body), ...shapes }, { required: ["images", "prompt"] });
  const problem = shape(body, "") ?? checkCount(body["images"], "images");
  if (problem !== null) return { refused: openaiErrors.forProblem(problem) };
  const urls = asArray(body["images"]).map((image) => asObject(image)["image_url"]);
  const unread = urls.findIndex((url) => isGiven(url) && !isReadableImage(url));
  if (unread >= 0) return { refused: invalidImage(unread) };
  const sources = urls.map((url) => readImageUrl(url) ?? unseen);
  return { body, sources: isGiven(body["mask"]) ? [...sources, unseen] : sources };
}

/** Exactly one of an address and the id of an uploaded file. */
function oneReference(given: unknown, field: string): Problem | null {
  const problem = reference(given, field);
  if (problem !== null) return problem;
  const { image_url, file_id } = asObject(given);
  if (isGiven(image_url) !== isGiven(file_id)) return null;
  return badValue(field, "expected exactly one of image_url and file_id");
}

const errors = openaiEventErrors;

/** Images of OpenAI: generations, edits as a form or as JSON, and the addresses of the older models' images. */
export const imageRoutes: readonly Route[] = [
  { method: "POST", path: "/openai/v1/images/generations", errors, handle: generate },
  { method: "POST", path: "/openai/v1/images/edits", errors, handle: edit },
  pictureRoute(picturesFolder, openaiErrors),
];
