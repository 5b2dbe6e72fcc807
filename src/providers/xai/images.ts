import { type JsonObject, listOf, objectOf, type ObservedUsage } from "../../core/index.ts";
import type { CallInput, UpstreamRequests, UpstreamOperation } from "../provider.ts";
import {
  editsBetween,
  fitImageFields,
  imageHints,
  type ImageFieldRules,
  imagesInEvents,
  opaqueOnly,
} from "../shared/images/image-fields.ts";
import { readImageSize } from "../shared/images/image-size.ts";
import { type ImageSource, imageSources, maskSource, urlOf } from "../shared/images/image-sources.ts";
import { refusal } from "../shared/refusal.ts";
import { reportedMediaCost } from "./cost.ts";

const sizes = {
  ratios: ["1:1", "3:4", "4:3", "9:16", "16:9", "2:3", "3:2", "9:19.5", "19.5:9", "9:20", "20:9", "1:2", "2:1"],
  resolutions: { "1k": 1_024, "2k": 2_048 },
};

/** xAI doesn't stream images: the gateway sends the finished answer as a stream. */
const rules: ImageFieldRules = {
  drops: [...imageHints, "stream", "size"],
  only: { ...opaqueOnly, output_format: ["jpeg"], style: [] },
};

/** The size as an aspect ratio and a resolution. */
function sized(body: JsonObject): JsonObject {
  const { ratio, resolution } = readImageSize(body["size"], sizes);
  const fields = { ...(ratio && { aspect_ratio: ratio }), ...(resolution && { resolution }) };
  const duplicate = Object.keys(fields).find((field) => body[field] !== undefined && body[field] !== null);
  if (duplicate !== undefined) throw refusal("size", `not together with ${duplicate}, which also sets the size.`);
  return fields;
}

function fitted(body: JsonObject): JsonObject {
  const { quality, ...fit } = fitImageFields(body, rules);
  const fields = { ...fit, ...sized(body), ...(quality === undefined || quality === "auto" ? {} : { quality }) };
  return imagesInEvents(body, fields);
}

/** The edit of a single image always has that image's ratio (`docs/wire/xai.md`). */
function fittedEdit(input: CallInput): JsonObject {
  const { body } = input;
  if (imageSources(input).length === 1 && "aspect_ratio" in sized(body)) {
    throw refusal("size", "an edit of one image has the size of that image: leave it out.");
  }
  return fitted(body);
}

function readUsage(answer: JsonObject): ObservedUsage | undefined {
  const usage = objectOf(answer["usage"]);
  const cost = usage === undefined ? undefined : reportedMediaCost(usage);
  return cost === undefined ? undefined : { usage: { requests: 1 }, reportedCost: cost };
}

/**
 * Answers are passed through without `created`: no SDK reads it, and adding it would mean parsing megabytes of base64.
 */
const operation = {
  readUsage,
  // Errors have several formats, some with a success status. A successful answer has images, or reports withheld ones.
  isFailure: ({ data }: JsonObject) => data === undefined || data === null,
};

export const imageGeneration: UpstreamOperation = {
  ...operation,
  path: "/images/generations",
  edits: (body) => editsBetween(body, fitted(body)),
  toUpstream: ({ body }) => asStream(body),
};

/** Passes the client's body on, and converts the answer if the client requests a stream. */
function asStream(body: JsonObject): UpstreamRequests | undefined {
  return body["stream"] === true ? { requests: [{}], answer: dated } : undefined;
}

function dated([answer = {}]: readonly JsonObject[], at: number): JsonObject {
  return { created: at, ...answer };
}

/** An image in xAI's JSON format. */
async function referenceOf(source: ImageSource): Promise<JsonObject> {
  return "fileId" in source ? { file_id: source.fileId } : { url: await urlOf(source) };
}

/** Edits are JSON only: a form's files are converted, and so are images that are not in objects. */
async function editToUpstream(input: CallInput): Promise<UpstreamRequests | undefined> {
  const { body, files } = input;
  const { image: _image, images: _images, mask: _mask, ...fields } = fittedEdit(input);
  if (files.length === 0 && isInObjects(body)) return asStream(body);
  const sources = imageSources(input);
  const references: JsonObject[] = [];
  for (const source of sources) references.push(await referenceOf(source));
  const mask = maskSource(input);
  return {
    ...asStream(body),
    requests: [
      {
        json: {
          ...fields,
          ...(references.length === 1 ? { image: references[0] } : { images: references }),
          ...(mask === undefined ? {} : { mask: await referenceOf(mask) }),
        },
      },
    ],
  };
}

/** Whether the images can be passed on unchanged: xAI accepts OpenAI's list of objects. */
function isInObjects({ image, images, mask }: JsonObject): boolean {
  const given = [image, mask, ...(Array.isArray(images) ? listOf(images) : [images])];
  return given.every((entry) => entry === undefined || objectOf(entry) !== undefined);
}

export const imageEdit: UpstreamOperation = {
  ...operation,
  path: "/images/edits",
  edits: (body) => editsBetween(body, fittedEdit({ body, files: [] })),
  toUpstream: editToUpstream,
};
