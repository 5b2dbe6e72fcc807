import { type JsonObject, objectOf, type ObservedUsage } from "../../core/index.ts";
import type { CallInput, UpstreamRequests, UpstreamOperation } from "../provider.ts";
import {
  editsBetween,
  fitImageFields,
  imageHints,
  type ImageFieldRules,
  imagesInEvents,
  opaqueOnly,
} from "../shared/image-fields.ts";
import { readImageSize } from "../shared/image-size.ts";
import { type ImageSource, imageSources, maskSource, urlOf } from "../shared/image-sources.ts";
import { refusal } from "../shared/refusal.ts";
import { reportedCost } from "./cost.ts";

const sizes = {
  ratios: ["1:1", "3:4", "4:3", "9:16", "16:9", "2:3", "3:2", "9:19.5", "19.5:9", "9:20", "20:9", "1:2", "2:1"],
  resolutions: { "1k": 1_024, "2k": 2_048 },
};

/** There are no streams: what has been made is told as one here. */
const rules: ImageFieldRules = {
  drops: [...imageHints, "stream", "size"],
  only: { ...opaqueOnly, output_format: ["jpeg"], style: [] },
};

/** A ratio and a resolution stand for the size. */
function sized(body: JsonObject): JsonObject {
  const { ratio, resolution } = readImageSize(body["size"], sizes);
  const named = { ...(ratio && { aspect_ratio: ratio }), ...(resolution && { resolution }) };
  const twice = Object.keys(named).find((field) => body[field] !== undefined && body[field] !== null);
  if (twice !== undefined) throw refusal("size", `not beside ${twice}, which says the same.`);
  return named;
}

function fitted(body: JsonObject): JsonObject {
  const { quality, ...fit } = fitImageFields(body, rules);
  const said = { ...fit, ...sized(body), ...(quality === undefined || quality === "auto" ? {} : { quality }) };
  return imagesInEvents(body, said);
}

/** A single image keeps its own ratio, whatever is asked for (`docs/wire/xai.md`). */
function fittedEdit(input: CallInput): JsonObject {
  const { body } = input;
  if (imageSources(input).length === 1 && "aspect_ratio" in sized(body)) {
    throw refusal("size", "an edit of one image has the size of that image: leave it out.");
  }
  return fitted(body);
}

function readUsage(answer: JsonObject): ObservedUsage | undefined {
  const usage = objectOf(answer["usage"]);
  const cost = usage === undefined ? undefined : reportedCost(usage);
  return cost === undefined ? undefined : { usage: { requests: 1 }, reportedCost: cost };
}

/** Bytes pass, without `created`: no SDK reads it, and megabytes of base64 would be taken apart to add it. */
const operation = {
  readUsage,
  // Its errors have several shapes, some under a success status: an answer has images, or says which were withheld.
  isFailure: ({ data }: JsonObject) => data === undefined || data === null,
};

export const imageGeneration: UpstreamOperation = {
  ...operation,
  path: "/images/generations",
  edits: (body) => editsBetween(body, fitted(body)),
  toUpstream: ({ body }) => asStream(body),
};

/** The client's own body, whose answer is made a stream: a call that asks for none passes. */
function asStream(body: JsonObject): UpstreamRequests | undefined {
  return body["stream"] === true ? { requests: [{}], answer: dated } : undefined;
}

function dated([answer = {}]: readonly JsonObject[], at: number): JsonObject {
  return { created: at, ...answer };
}

/** An image as xAI has it in JSON. */
async function referenceOf(source: ImageSource): Promise<JsonObject> {
  return "fileId" in source ? { file_id: source.fileId } : { url: await urlOf(source) };
}

/** It takes JSON alone: a form's files go in it, and so do images that the client hasn't put into objects. */
async function editToUpstream(input: CallInput): Promise<UpstreamRequests | undefined> {
  const { body, files } = input;
  const { image: _image, images: _images, mask: _mask, ...rest } = fittedEdit(input);
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
          ...rest,
          ...(references.length === 1 ? { image: references[0] } : { images: references }),
          ...(mask === undefined ? {} : { mask: await referenceOf(mask) }),
        },
      },
    ],
  };
}

/** Whether JSON passes: OpenAI's list of objects is xAI's, too. */
function isInObjects({ image, images, mask }: JsonObject): boolean {
  const given = [image, mask, ...(Array.isArray(images) ? (images as unknown[]) : [images])];
  return given.every((one) => one === undefined || objectOf(one) !== undefined);
}

export const imageEdit: UpstreamOperation = {
  ...operation,
  path: "/images/edits",
  edits: (body) => editsBetween(body, fittedEdit({ body, files: [] })),
  toUpstream: editToUpstream,
};
