import type { CallFile, JsonObject } from "../core/index.ts";

/** The input of a call, for an operation that reshapes it: the fields of its JSON or form, and the form's files. */
export interface CallInput {
  body: JsonObject;
  files: readonly CallFile[];
}

/** A part of a form to be sent upstream; a file is sent unchanged. */
export type FormField = { name: string; text: string } | { name: string; file: CallFile };

/** The body of one request of a reshaped call. */
export interface UpstreamRequestBody {
  /** Appended to the operation's path. */
  subpath?: string;
  /** The whole body. If it has a `model`, that is replaced by the upstream's name of the model. */
  json?: JsonObject;
  /**
   * The whole form, in this order. Without `json` and `form`, the client's body is sent, with the operation's edits.
   */
  form?: readonly FormField[];
}
