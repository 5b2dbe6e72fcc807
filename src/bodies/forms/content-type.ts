import { parseParameters } from "./parameters.ts";
import { invalidForm } from "./refusals.ts";

const MEDIA_TYPE = "multipart/form-data";
// As RFC 2046 has it.
const validBoundary = /^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/;

/** Whether a request says that its body is a form, well-formed or not. */
export function isForm(headers: Headers): boolean {
  const contentType = headers.get("content-type") ?? "";
  return contentType.split(";", 1)[0]?.trim().toLowerCase() === MEDIA_TYPE;
}

/** The boundary that a `content-type` names. Throws 422 where it names none, or one that could be read in two ways. */
export function boundaryOf(contentType: string | null): string {
  const parsed = parseParameters(contentType ?? "");
  if (parsed === undefined || parsed.value !== MEDIA_TYPE) {
    throw invalidForm(`The content-type must be ${MEDIA_TYPE} with a boundary.`, "content-type");
  }
  const boundary = parsed.parameters.get("boundary");
  const extended = [...parsed.parameters.keys()].some((name) => name.includes("*"));
  if (boundary === undefined || extended || !validBoundary.test(boundary)) {
    throw invalidForm(
      "The content-type must name a boundary of 1 to 70 characters that RFC 2046 allows.",
      "content-type",
    );
  }
  return boundary;
}
