import type { ServerResponse } from "node:http";

import { deliver, replacingFault } from "./deliver.ts";
import { type FaultBook, FaultSpecError, type Faults, noFaults, splitModel } from "./faults.ts";
import { matchPath, pause } from "./http.ts";
import { identityOf } from "./identity.ts";
import { isObject, parseJson } from "./json.ts";
import { type FormPart, isFormType, parseForm } from "./multipart.ts";
import { Outlet } from "./outlet.ts";
import { recordedBodyBytesMax, type RecordedPart, type RecordedRequest, type Recorder } from "./recorder.ts";
import { KeptAnswers } from "./kept-answers.ts";
import { type Answer, type Call, errorAnswer, type Route, type SimulatedProvider } from "./types.ts";

const faultHeader = "x-sim-fault";
/** The one API key that every provider refuses. */
export const refusedKey = "bad-key";

/** One request as it came in. */
export interface Received {
  readonly method: string;
  readonly url: URL;
  readonly headers: { readonly [name: string]: string };
  readonly bytes: Buffer;
}

/** State shared by all requests. */
export interface ExchangeState {
  readonly recorder: Recorder;
  readonly faultBook: FaultBook;
  /** The stored objects of each provider, by the provider's name. */
  readonly kept: ReadonlyMap<string, KeptAnswers>;
}

/** Records one request to a provider, answers it, and applies its faults. Rejects only by a bug of the simulators. */
export async function exchange(
  received: Received,
  response: ServerResponse,
  provider: SimulatedProvider,
  state: ExchangeState,
): Promise<void> {
  const form = readForm(received);
  const closeRecord = state.recorder.open(recordOf(received, provider, form));
  const ready = prepare(received, form, provider, state);
  const { faults } = ready.call;
  const outlet = new Outlet(response, faults);
  outlet.gone.addEventListener("abort", () => closeRecord(outlet.finished ? "answered" : "aborted"), { once: true });
  await pause(faults.slowMs, outlet.gone);
  if (faults.connectReset) outlet.reset();
  else await respond(ready, provider, outlet);
  if (outlet.finished) closeRecord("answered");
}

type Form = readonly FormPart[] | null;

function readForm({ headers, bytes }: Received): Form {
  const contentType = headers["content-type"] ?? "";
  return isFormType(contentType) ? parseForm(contentType, bytes) : null;
}

function recordOf(received: Received, provider: SimulatedProvider, form: Form): Omit<RecordedRequest, "outcome"> {
  return {
    provider: provider.name,
    method: received.method,
    path: received.url.pathname + received.url.search,
    headers: received.headers,
    body: received.bytes.toString("utf8", 0, recordedBodyBytesMax),
    parts: form === null ? null : form.map(recordedPart),
  };
}

function recordedPart({ name, filename, contentType, bytes, sha256 }: FormPart): RecordedPart {
  const text = filename === null ? Buffer.from(bytes).toString("utf8", 0, recordedBodyBytesMax) : null;
  return { name, filename, contentType, size: bytes.length, sha256, text };
}

/** A request that is ready to be answered. */
interface Ready {
  readonly call: Call;
  readonly route: Route | null;
  readonly apiKey: string | null;
  /** Set if the fault specification is invalid. */
  readonly specError: string | null;
}

async function respond(ready: Ready, provider: SimulatedProvider, outlet: Outlet): Promise<void> {
  const errors = ready.route?.errors ?? provider.errors;
  const { call } = ready;
  const answer = replacingFault(call.faults, errors) ?? answerCall(ready, provider);
  await deliver(answer, { outlet, faults: call.faults, headers: provider.responseHeaders(call), errors });
}

function answerCall(ready: Ready, provider: SimulatedProvider): Answer {
  const { call, route, apiKey } = ready;
  if (ready.specError !== null) {
    return { kind: "json", status: 400, body: { error: { message: ready.specError, type: "simulator_error" } } };
  }
  if (route === null) return errorAnswer(provider.errors.routeNotFound(call.method, call.path));
  const errors = route.errors ?? provider.errors;
  if (route.open === true) return route.handle(call);
  if (apiKey === null) return errorAnswer(errors.keyMissing());
  if (apiKey === refusedKey) return errorAnswer(errors.keyInvalid());
  return route.handle(call);
}

function prepare(received: Received, form: Form, provider: SimulatedProvider, state: ExchangeState): Ready {
  const { method, headers, bytes, url } = received;
  const path = url.pathname;
  const { route, parameters: inPath } = findRoute(provider, method, path);
  const named = readModel(received, form, inPath);
  const identity = identityOf(provider.name, method, path + url.search, ...identifying(bytes, form));
  const kept = state.kept.get(provider.name) ?? new KeptAnswers();
  const { body, parameters } = named;
  const plain = { method, path, parameters, query: url.searchParams, headers, body, form: named.form, bytes };
  const call = { ...plain, identity, faults: noFaults, kept };
  const key = splitKey(provider.apiKey(call));
  const spec = [headers[faultHeader], named.spec, key.spec, provider.faultSpec?.(call)]
    .filter((part) => typeof part === "string")
    .join("+");
  const taken = takeFaults(state.faultBook, spec, `${provider.name} ${named.model}+${spec}`, key.apiKey);
  return { call: { ...call, faults: taken.faults }, route, apiKey: key.apiKey, specError: taken.specError };
}

/** The basis of an answer: a form without its boundary, which clients choose newly for each request. */
function identifying(bytes: Buffer, form: Form): readonly (string | Uint8Array)[] {
  if (form === null) return [bytes];
  return form.flatMap(({ name, filename, contentType, sha256 }) => [name, filename ?? "", contentType ?? "", sha256]);
}

function takeFaults(
  faultBook: FaultBook,
  spec: string,
  subject: string,
  apiKey: string | null,
): { readonly faults: Faults; readonly specError: string | null } {
  try {
    return { faults: faultBook.take(spec === "" ? null : spec, subject, apiKey), specError: null };
  } catch (error) {
    if (error instanceof FaultSpecError) return { faults: noFaults, specError: error.message };
    throw error;
  }
}

function splitKey(key: string | null): { readonly apiKey: string | null; readonly spec: string | null } {
  if (key === null) return { apiKey: null, spec: null };
  const { model: apiKey, spec } = splitModel(key);
  return { apiKey, spec };
}

function findRoute(
  provider: SimulatedProvider,
  method: string,
  path: string,
): Pick<Ready, "route"> & Pick<Call, "parameters"> {
  for (const route of provider.routes) {
    const parameters = route.method === method ? matchPath(route.path, path) : null;
    if (parameters !== null) return { route, parameters };
  }
  return { route: null, parameters: {} };
}

/** The model that a request names, wherever it does, with the fault specification taken off. */
interface NamedModel extends Pick<Call, "body" | "form" | "parameters"> {
  readonly model: string;
  readonly spec: string | null;
}

function readModel({ headers, bytes }: Received, form: Form, parameters: Call["parameters"]): NamedModel {
  const unnamed = { body: undefined, form, parameters, model: "", spec: null };
  if (parameters["model"] !== undefined) {
    const { model, spec } = splitModel(parameters["model"]);
    return { ...unnamed, body: decode(bytes), parameters: { ...parameters, model }, model, spec };
  }
  if (isFormType(headers["content-type"])) return form === null ? unnamed : readFormModel(form, unnamed);
  const body = decode(bytes);
  if (!isObject(body) || typeof body["model"] !== "string") return { ...unnamed, body };
  const { model, spec } = splitModel(body["model"]);
  return { ...unnamed, body: spec === null ? body : { ...body, model }, model, spec };
}

function decode(bytes: Buffer): unknown {
  return bytes.length === 0 ? undefined : parseJson(bytes.toString("utf8"));
}

function readFormModel(form: readonly FormPart[], unnamed: NamedModel): NamedModel {
  const index = form.findIndex((part) => part.name === "model" && part.filename === null);
  const part = form[index];
  if (part === undefined) return unnamed;
  const { model, spec } = splitModel(Buffer.from(part.bytes).toString("utf8"));
  return { ...unnamed, form: form.with(index, { ...part, bytes: Buffer.from(model) }), model, spec };
}
