import { parseParameters } from "./parameters.ts";
import { invalidForm } from "./refusals.ts";

const MEDIA_TYPE = "multipart/form-data";
// The limit of RFC 2046.
const validBoundary = /^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/;

/** Whether a request declares its body as a form, well-formed or not. */
export function isForm(headers: Headers): boolean {
  const contentType = headers.get("content-type") ?? "";
  return contentType.split(";", 1)[0]?.trim().toLowerCase() === MEDIA_TYPE;
}

/** The boundary in a `content-type`. Throws 422 if there is none, or one that readers could understand differently. */
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
