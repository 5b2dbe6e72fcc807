import type { ModelAnswer, TokenCounts, Turn } from "../answer.ts";
import type { Problem } from "../check.ts";
import type { Identity } from "../identity.ts";
import type { JsonObject } from "../json.ts";
import type { Seal } from "../seal.ts";
import type { Shape } from "../shape.ts";
import type { ToolCall } from "../tool-calls.ts";
import type { Call, ErrorAnswer, ProviderErrors } from "../types.ts";

/** One request for a response on its way to an answer. */
export interface ResponsesTalk {
  readonly call: Call;
  readonly body: JsonObject;
  /** Everything that went in, earlier responses included. */
  readonly input: readonly JsonObject[];
  readonly answer: ModelAnswer;
  readonly turn: Turn;
}

/** A provider's format of responses. It contains all differences between providers. */
export interface ResponsesWire {
  readonly shape: Shape;
  readonly errors: ProviderErrors;
  /** Refusals beyond the shape of single members. */
  refuse?(body: JsonObject, headers: Call["headers"]): Problem | null;
  /** Calls need results, reasoning needs the item that it led to, and every referenced item must be stored. */
  readonly strictItems: boolean;
  /** It makes summaries of conversations itself (`compaction_trigger`). */
  readonly compacts?: true;
  /** It runs responses with `background` after their requests. */
  readonly background?: true;
  notKept(what: "response" | "item", id: string, field: string): ErrorAnswer;
  /** The answer to encrypted reasoning that does not open. */
  forged(sealed: string): ErrorAnswer;
  /** The seal of encrypted reasoning. */
  readonly seal: Seal;
  responseId(identity: Identity): string;
  /** `prefix` is msg, rs or fc. */
  itemId(prefix: string, label: string, identity: Identity): string;
  callId(call: ToolCall): string;
  wantsReasoning(body: JsonObject): boolean;
  /** How reasoning is shown: summed up, as it is, or not at all. */
  reasoningShown(body: JsonObject): "summary" | "text" | "hidden";
  /** A refusal is a separate content part, or the reason why the response is incomplete. */
  readonly refusal: "part" | "filter";
  /** Why a filtered response is incomplete, beyond its reason. */
  filterDetails?(turn: Turn): JsonObject;
  /** Text parts and their events have log probabilities, empty unless they were asked for. */
  readonly logprobs: boolean;
  /** Arguments are streamed as they are made, not all at once. */
  readonly argumentFragments: boolean;
  /** The end of the arguments names the function. */
  readonly namedArguments: boolean;
  /** Padding on every delta, unless the caller wants none. */
  readonly obfuscation: boolean;
  /** The stream ends with `[DONE]`, not by its last event alone. */
  readonly doneFrame: boolean;
  /** Members of a response besides id, model, status, output, usage and the reason of its end. */
  members(talk: ResponsesTalk, completed: boolean): JsonObject;
  usage(tokens: TokenCounts, talk: ResponsesTalk): JsonObject;
  /** A stored response as returned by a look-up, if that differs. */
  retrieved?(body: JsonObject): JsonObject;
}
