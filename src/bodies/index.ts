export type { BodyLimits } from "./arrival.ts";
export type { BodySource } from "./body-source.ts";
export { type FormBody, type FormDeclaration, receiveForm, type ReceivedBody } from "./form-body.ts";
export { type FormEdit, type FormPart, isForm, type OutgoingForm, readForm, type ReceivedForm } from "./forms/index.ts";
export { editBytes, elementTexts, type JsonEdit, withMember } from "./json/edit.ts";
export { matchesWithoutCopy } from "./json/accept-body.ts";
export { splitList } from "./json/list-body.ts";
export { decodedSizeOf, isData, jsonBytes, Measure } from "./json/measure.ts";
export { isOpaqueText, type OpaqueText, opaqueText, type SizeOf } from "./json/measure.ts";
export { modelId } from "./json/model-id.ts";
export {
  checkBody,
  decodeBody,
  decodeBodyInSteps,
  memberIn,
  type ModelOf,
  parseBody,
  type ParsedBody,
  withModel,
} from "./json/parse-body.ts";
export { repeatsKey } from "./json/repeated-keys.ts";
export { scanObject } from "./json/scan.ts";
export { wholeNumber } from "./json/whole-number.ts";
export { isLarge, readBody } from "./read-body.ts";
