/** Applies an upstream's edits to a body, in each form that a body may have. */
import {
  editBytes,
  type JsonEdit,
  type FormEdit,
  type OutgoingForm,
  type ReceivedForm,
  type ParsedBody,
} from "../bodies/index.ts";
import { type JsonObject, listOf } from "../core/index.ts";
import type { Target } from "../routing/index.ts";
import type { ChargeableBody } from "./chargeable-route.ts";

/** Decisions of the gateway about a request, beyond the upstream's own edits. */
interface Decided {
  /** Replaces all limits of the output. */
  outputTokens?: number | undefined;
  /** The places of the tools that the upstream does not get. */
  leftTools?: readonly number[] | undefined;
}

/** The client's own bytes, with the upstream's name of the model, its edits and the gateway's decisions. */
export function editedBytes<Body extends ChargeableBody>(
  { model, operation }: Target,
  { bytes, members, body }: ParsedBody<Body>,
  { outputTokens, leftTools = [] }: Decided = {},
  own: readonly JsonEdit[] = operation.edits(body, model),
): readonly Uint8Array[] {
  const edits: JsonEdit[] = [{ set: "model", value: JSON.stringify(model) }, ...own];
  if (leftTools.length > 0) edits.push(...leftOut(listOf(memberOf({ bytes, members }, "tools")), leftTools));
  const { outputLimit } = operation;
  if (outputTokens === undefined || outputLimit === undefined) return editBytes(bytes, members, edits);
  const { field, replaces } = outputLimit;
  const limits = new Set([field, ...replaces]);
  const others = edits.filter((edit) => !limits.has(targetOf(edit)));
  const removed = replaces.filter((name) => name in body).map((name): JsonEdit => ({ remove: name }));
  return editBytes(bytes, members, [...others, ...removed, { set: field, value: String(outputTokens) }]);
}

/** A member of a body, decoded: long strings are truncated in the body itself. */
function memberOf({ bytes, members }: Pick<ParsedBody<unknown>, "bytes" | "members">, key: string): unknown {
  const member = members.find((each) => each.key === key);
  return member && JSON.parse(bytes.toString("utf8", member.valueStart, member.valueEnd));
}

/** The members that only mean something beside tools: upstreams refuse them without. */
const besideTools = ["tools", "tool_choice", "parallel_tool_calls"];

/** The edits that leave tools out, by their places. */
export function leftOut(tools: readonly unknown[], left: readonly number[] = []): JsonEdit[] {
  if (left.length === 0) return [];
  const rest = tools.filter((_, index) => !left.includes(index));
  if (rest.length === 0) return besideTools.map((name) => ({ remove: name }));
  return [{ set: "tools", value: JSON.stringify(rest) }];
}

function targetOf(edit: JsonEdit): string {
  if ("set" in edit) return edit.set;
  return "remove" in edit ? edit.remove : edit.rename;
}

/** A body created by the gateway. */
export function editValue(body: JsonObject, edits: readonly JsonEdit[]): JsonObject {
  const edited: Record<string, unknown> = { ...body };
  for (const edit of edits) {
    if ("set" in edit) edited[edit.set] = JSON.parse(edit.value);
    else if ("remove" in edit) delete edited[edit.remove];
    else if (edit.rename in edited) {
      edited[edit.to] = edited[edit.rename];
      delete edited[edit.rename];
    }
  }
  return edited;
}

/**
 * The client's own form, with the upstream's name of the model and its edits of existing fields; fields are never
 * added.
 */
export function editedForm({ model, operation }: Target, form: ReceivedForm, body: JsonObject): OutgoingForm {
  const named = { set: "model", value: JSON.stringify(model) };
  const edits = [named, ...operation.edits(body, model)].flatMap((edit): FormEdit[] => {
    if ("set" in edit) return partsOf(form, edit.set).map((part) => ({ part, text: textOf(edit.value) }));
    if ("remove" in edit) return partsOf(form, edit.remove).map((part) => ({ remove: part }));
    throw new Error(`a part of a form can't be renamed: ${edit.rename}`);
  });
  return form.edited(edits);
}

function partsOf({ parts }: ReceivedForm, name: string) {
  return parts.filter((part) => part.name === name);
}

/** A JSON value as a form's text. */
function textOf(written: string): string {
  const value: unknown = JSON.parse(written);
  return typeof value === "string" ? value : written;
}
