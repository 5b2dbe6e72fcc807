/** Chooses how a call's body is read, and reads and validates JSON. */
import { type BodySource, type FormDeclaration, isForm, parseBody, type ParsedBody } from "../bodies/index.ts";
import type { ChargeableBody, ChargeableRoute } from "./chargeable-route.ts";
import type { IncomingCall } from "./incoming-call.ts";

/** The form declared by the route if the request contains one; undefined for JSON. */
export function formOf<Body extends ChargeableBody>(
  { form, body }: ChargeableRoute<Body>,
  { headers }: IncomingCall,
): FormDeclaration<Body> | undefined {
  return form !== undefined && (body === undefined || isForm(headers)) ? form : undefined;
}

/** The source of the call's body. */
export function sourceOf({ body, headers }: IncomingCall): BodySource {
  return body instanceof Uint8Array ? new Response(Uint8Array.from(body), { headers }) : body;
}

/** Reads JSON and validates it. Throws 422 naming the field, or for an unsupported content type. */
export function readJson<Body extends ChargeableBody>(
  { body, codec, operations }: ChargeableRoute<Body>,
  received: Uint8Array,
): ParsedBody<Body> {
  if (body === undefined) throw new Error(`the route of ${operations[0]} takes no body`);
  return parseBody(received, body, codec.measured);
}
