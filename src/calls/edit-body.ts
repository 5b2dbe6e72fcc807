/** Applies an upstream's edits to a body, in each form that a body may have, and names their reasons in a header of the answer. */
import {
  editBytes,
  elementTexts,
  type JsonEdit,
  type FormEdit,
  type OutgoingForm,
  parseBody,
  type ReceivedForm,
  type ParsedBody,
  withMember,
} from "../bodies/index.ts";
import { type FactName, type JsonObject, listOf, objectOf } from "../core/index.ts";
import type { OutputLimit, UpstreamOperation } from "../providers/index.ts";
import type { OfferedTools, Target } from "../routing/index.ts";
import type { ChargeableBody, ChargeableRoute } from "./chargeable-route.ts";

/** Decisions of the gateway about a request, beyond the upstream's own edits. */
interface Decided {
  /** Replaces all limits of the output. */
  outputTokens?: number | undefined;
  tools?: DecidedTools | undefined;
}

/** The tools that the upstream does not get, and those whose runs it must limit, to `runs`. */
type DecidedTools = Pick<OfferedTools, "left" | "unlimited"> & { runs: number | undefined };

/** The client's own bytes, with the upstream's name of the model, its edits and the gateway's decisions. */
export function editedBytes<Body extends ChargeableBody>(
  { model, operation }: Target,
  { bytes, members, body }: ParsedBody<Body>,
  { outputTokens, tools }: Decided = {},
  own: readonly JsonEdit[] = operation.edits(body, model),
): readonly Uint8Array[] {
  const edits: JsonEdit[] = [...addressEdits(operation, model), ...own];
  if (tools !== undefined) edits.push(...toolEdits({ bytes, members }, tools));
  const { outputLimit } = operation;
  if (outputTokens === undefined || outputLimit === undefined) return editBytes(bytes, members, edits);
  const { field, replaces, within } = outputLimit;
  if (within !== undefined) {
    return editBytes(bytes, members, [...edits, ...innerLimit({ bytes, members }, outputLimit, within, outputTokens)]);
  }
  const limits = new Set([field, ...replaces]);
  const others = edits.filter((edit) => !limits.has(targetOf(edit)));
  const removed = replaces.filter((name) => name in body).map((name): JsonEdit => ({ remove: name }));
  return editBytes(bytes, members, [...others, ...removed, { set: field, value: String(outputTokens) }]);
}

/** The upstream's name of the model, in the body unless its address has it. */
function addressEdits(operation: UpstreamOperation, model: string): JsonEdit[] {
  if (operation.subpath === undefined) return [{ set: "model", value: JSON.stringify(model) }];
  return [{ remove: "model" }, { remove: "stream" }];
}

/** The limit in a member of the body, which keeps its other bytes: in each, if the body has it by several names. */
function innerLimit(
  { bytes, members }: Pick<ParsedBody<unknown>, "bytes" | "members">,
  { field, replaces }: OutputLimit,
  within: readonly [string, ...string[]],
  outputTokens: number,
): JsonEdit[] {
  const value = String(outputTokens);
  const found = members.filter(({ key }) => within.includes(key));
  const edits = found.map(({ key, valueStart, valueEnd }): JsonEdit => {
    const text = bytes.toString("utf8", valueStart, valueEnd);
    const isObject = text.startsWith("{");
    return {
      set: key,
      value: isObject ? withMember(text, field, value, replaces) : JSON.stringify({ [field]: outputTokens }),
    };
  });
  return edits.length > 0 ? edits : [{ set: within[0], value: JSON.stringify({ [field]: outputTokens }) }];
}

/** The client's body with these edits, read again. */
export function parseEdited<Body extends ChargeableBody>(
  { bytes, members, named }: ParsedBody<Body>,
  edits: readonly JsonEdit[],
  { body: schema, codec }: Pick<ChargeableRoute<Body>, "body" | "codec">,
): ParsedBody<Body> {
  if (schema === undefined) throw new Error("a route of forms has no JSON to edit");
  return parseBody(Buffer.concat(editBytes(bytes, members, edits)), schema, codec.measured, named);
}

/** The members that only mean something beside tools: upstreams refuse them without. */
const besideTools = ["tools", "tool_choice", "parallel_tool_calls"];

/** Tools that remain keep their bytes, except for a limit of their own. */
function toolEdits(
  { bytes, members }: Pick<ParsedBody<unknown>, "bytes" | "members">,
  tools: DecidedTools,
): JsonEdit[] {
  const member = members.find(({ key }) => key === "tools");
  const edits: JsonEdit[] = bodyLimits(tools).map(([field, runs]) => ({ set: field, value: String(runs) }));
  if (member === undefined || !changesTools(tools)) return edits;
  const sent = sentTools(elementTexts(bytes, member), tools, (text, field, runs) =>
    withMember(text, field, String(runs)),
  );
  if (sent.length === 0) return [...edits, ...besideTools.map((name) => ({ remove: name }))];
  return [...edits, { set: "tools", value: `[${sent.join(",")}]` }];
}

/** The same for a body created by the gateway. */
export function withDecidedTools(body: JsonObject, tools: DecidedTools): JsonObject {
  const limited: JsonObject = { ...body, ...Object.fromEntries(bodyLimits(tools)) };
  if (!changesTools(tools)) return limited;
  const sent = sentTools(listOf(body["tools"]), tools, (tool, field, runs) => ({ ...objectOf(tool), [field]: runs }));
  if (sent.length > 0) return { ...limited, tools: sent };
  return Object.fromEntries(Object.entries(limited).filter(([name]) => !besideTools.includes(name)));
}

const changesTools = ({ left, unlimited }: DecidedTools): boolean =>
  left.length > 0 || unlimited.some(({ limit }) => limit.within === "tool");

/** The limits that apply to all tools of the body together. */
function bodyLimits({ unlimited, runs }: DecidedTools): [field: string, runs: number][] {
  if (runs === undefined) return [];
  const fields = unlimited.filter(({ limit }) => limit.within === "body").map(({ limit }) => limit.field);
  return [...new Set(fields)].map((field) => [field, runs]);
}

/** The tools that the upstream gets, in the form in which they are given. */
function sentTools<Tool>(
  tools: readonly Tool[],
  { left, unlimited, runs }: DecidedTools,
  limited: (tool: Tool, field: string, runs: number) => Tool,
): Tool[] {
  const fields = new Map(
    unlimited.flatMap(({ index, limit }) => (limit.within === "tool" ? [[index, limit.field]] : [])),
  );
  return tools.flatMap((tool, index) => {
    if (left.includes(index)) return [];
    const field = fields.get(index);
    return [field === undefined || runs === undefined ? tool : limited(tool, field, runs)];
  });
}

function targetOf(edit: JsonEdit): string {
  if ("set" in edit) return edit.set;
  return "remove" in edit ? edit.remove : edit.rename;
}

/** A body created by the gateway. */
export function editValue(body: JsonObject, edits: readonly JsonEdit[], operation: UpstreamOperation): JsonObject {
  const edited: Record<string, unknown> = { ...body };
  if (operation.subpath !== undefined) {
    delete edited["model"];
    delete edited["stream"];
  }
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
 * The client's own form, with the upstream's name of the model and its edits of existing fields. Only the model is added, if the
 * request's address had it alone.
 */
export function editedForm({ model, operation }: Target, form: ReceivedForm, body: JsonObject): OutgoingForm {
  const named = { set: "model", value: JSON.stringify(model) };
  const isNamed = partsOf(form, "model").length > 0;
  const edits = [named, ...operation.edits(body, model)].flatMap((edit): FormEdit[] => {
    if ("set" in edit) return partsOf(form, edit.set).map((part) => ({ part, text: textOf(edit.value) }));
    if ("remove" in edit) return partsOf(form, edit.remove).map((part) => ({ remove: part }));
    throw new Error(`a part of a form can't be renamed: ${edit.rename}`);
  });
  return form.edited(isNamed ? edits : [{ add: "model", text: model }, ...edits]);
}

function partsOf({ parts }: ReceivedForm, name: string) {
  return parts.filter((part) => part.name === name);
}

/** A JSON value as a form's text. */
function textOf(written: string): string {
  const value: unknown = JSON.parse(written);
  return typeof value === "string" ? value : written;
}

/** The headers with the names of facts that a request did not fit; `headers` themselves if it fitted all. */
export function withChanges<Headers extends Readonly<Record<string, string>> | undefined>(
  headers: Headers,
  changes: ReadonlySet<FactName> | undefined,
): Headers | Readonly<Record<string, string>> {
  if (changes === undefined || changes.size === 0) return headers;
  return { ...headers, "x-tollgate-changes": [...changes].toSorted().join(", ") };
}

/** The facts that a body did not fit; undefined if there are none, as for most calls. */
export function factsOfEdits(edits: readonly JsonEdit[]): Set<FactName> | undefined {
  let facts: Set<FactName> | undefined;
  for (const { fact } of edits) if (fact !== undefined) (facts ??= new Set()).add(fact);
  return facts;
}
