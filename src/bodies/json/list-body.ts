/** A body that is a long list of bodies, each of which has the bounds of a body of its own. */
import { GatewayError, limits } from "../../core/index.ts";
import { elementsOf, scanObject, unbounded } from "./scan.ts";

const OPEN_BRACKET = 0x5b;

/**
 * The bytes of the elements of one member, and those of the body without it. Neither is validated. Throws 422 if the body is
 * no object, or its member no list.
 */
export function splitList(received: Uint8Array, member: string): { elements: Buffer[]; rest: Buffer } {
  const bytes = Buffer.from(received.buffer, received.byteOffset, received.byteLength);
  // A body's own levels, and those of its list and its element.
  const bounds = { ...unbounded, depthMax: limits.jsonDepthMax + 2, membersMax: limits.jsonMembersMax };
  const scan = scanObject(bytes, bounds);
  if ("refused" in scan) {
    throw new GatewayError("validation_failed", `The body is no JSON object that can be read: it is ${scan.refused}.`);
  }
  const list = scan.members.findLast(({ key }) => key === member);
  if (list === undefined || bytes[list.valueStart] !== OPEN_BRACKET) {
    throw new GatewayError("validation_failed", `${member}: must be an array`, { param: member });
  }
  const others = scan.members.filter(({ key }) => key !== member);
  const rest = others.map(({ keyStart, valueEnd }) => bytes.toString("utf8", keyStart, valueEnd)).join(",");
  const elements = elementsOf(bytes, list.valueStart).map(({ start, end }) => bytes.subarray(start, end));
  return { elements, rest: Buffer.from(`{${rest}}`) };
}
