import { GatewayError } from "../../core/index.ts";

/** The maximum length of a part's name in an error. */
const NAME_CHARACTERS_MAX = 80;

/** A 422 about a form as a whole, or about the part or header in `param`. */
export function invalidForm(message: string, param?: string): GatewayError {
  return new GatewayError("validation_failed", message, param === undefined ? {} : { param });
}

/** A 422 about the part with this name; `what` follows the name. */
export function invalidPart(name: string, what: string): GatewayError {
  const short = name.slice(0, NAME_CHARACTERS_MAX);
  return invalidForm(`The part ${JSON.stringify(short)} ${what}`, short);
}
