/**
 * An upload: the form arrives completely (a large one in a temporary file), the user's quota has room for it, the upstream
 * takes it, and its owner is recorded before the answer. If the answer is lost before that, the file belongs to nobody.
 */
import { type FormPart, readForm, type ReceivedForm } from "../bodies/index.ts";
import { GatewayError, limits } from "../core/index.ts";
import { answerWith, askForReply, type FreeRequest, type WholeReply } from "../sending/index.ts";
import type { UploadPlace } from "../objects/index.ts";
import { chooseProvider, type FileProvider } from "./choose-provider.ts";
import type { FileCall, FileDependencies } from "./dependencies.ts";
import { keepFile, namesNoProvider } from "./kept-files.ts";
import { namedProvider, PROVIDER, queryWithout } from "./named-provider.ts";
import { isFileId } from "./owned-file.ts";

/** The name of the file's part. */
const FILE = "file";

const MS_PER_SECOND = 1_000;

/** `POST /v1/files`. Free. Throws as `readForm` and `askForReply` do, and 403 if the user's quota has no room for the file. */
export async function uploadFile(deps: FileDependencies, call: FileCall): Promise<Response> {
  if (call.prefix !== undefined) chooseProvider(deps, { prefix: call.prefix });
  const { ticker } = deps.asking;
  const form = await readForm(call.request, { ...deps.upload, ticker });
  try {
    const { named, ownParts } = nameInForm(call, form);
    const isOpen = namesNoProvider(call) && ownParts.length === 0;
    if (isOpen && textOf(form, "purpose") === "batch") return await keepFile(deps, call, form);
    const chosen = chooseProvider(deps, named);
    const bytes = sizeOf(form, chosen, deps.upload.bytesMax);
    const edited = form.edited(ownParts.map((remove) => ({ remove })));
    const target = { route: chosen.route, operation: chosen.files.operation };
    const question: FreeRequest = { target, subpath: queryWithout(call), body: edited, repeats: "unless-done" };
    return await send(deps, call, { chosen, question, bytes, purpose: textOf(form, "purpose") });
  } finally {
    await form.close();
  }
}

interface Upload {
  chosen: FileProvider;
  question: FreeRequest;
  /** Of the file, or the most that it may have if the upstream fetches it. */
  bytes: number;
  purpose: string | undefined;
}

async function send(deps: FileDependencies, call: FileCall, upload: Upload): Promise<Response> {
  const { chosen, question, bytes } = upload;
  const { store, clock, quota } = deps;
  const { principal, requestId: id } = call;
  const until = clock() + limits.uploadPlaceMs;
  const place: UploadPlace = { id, provider: chosen.route.prefix, owner: principal.user, bytes, until };
  if (!(await store.reserve(place, quota, clock()))) throw quotaExceeded(deps);
  let isRecorded = false;
  const begunAt = performance.now();
  try {
    const reply = await askForReply(deps.asking, call.request, question);
    if (reply.kind === "whole") {
      await record(deps, place, reply, chosen);
      isRecorded = true;
    }
    log(deps, call, upload, { status: reply.status, ms: Math.round(performance.now() - begunAt) });
    return answerWith(reply, question);
  } finally {
    if (!isRecorded) await cancel(deps, place);
  }
}

/** Makes the file the caller's. Throws 502 if the upstream's answer names no file, or that of another user. */
async function record(
  { store, clock }: FileDependencies,
  place: UploadPlace,
  { answers: [{ answer }], keyId }: WholeReply,
  { files }: FileProvider,
): Promise<void> {
  const { id } = answer;
  if (typeof id !== "string" || !isFileId(id)) throw invalidAnswer("has no valid id");
  const { provider, owner } = place;
  const isFetched = files.urlField !== undefined && isCount(answer["bytes"]);
  const bytes = isFetched ? Number(answer["bytes"]) : place.bytes;
  const seconds = answer[files.expiryField];
  const expiresAt = isCount(seconds) ? Number(seconds) * MS_PER_SECOND : Number.NaN;
  const isTime = Number.isSafeInteger(expiresAt) && expiresAt > clock();
  const file = { id, provider, owner, keyId, bytes, expiresAt: isTime ? expiresAt : undefined };
  if (!(await store.record(place, file, clock()))) throw invalidAnswer("has the id of another file");
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

function invalidAnswer(what: string): GatewayError {
  return new GatewayError("upstream_invalid_answer", `The upstream's answer to the upload ${what}.`);
}

/** The place of an upload that failed. It ends by itself if the storage does not answer. */
async function cancel({ store, logger }: FileDependencies, place: UploadPlace): Promise<void> {
  try {
    await store.cancel(place);
  } catch (reason) {
    const error = reason instanceof Error ? reason.name : typeof reason;
    logger.warn({ request_id: place.id, error }, "the place of an upload could not be returned");
  }
}

/** Metadata only: never a file's name or content. A purpose is logged if it can be no other text. */
function log(
  { logger }: FileDependencies,
  { requestId, principal }: FileCall,
  { chosen, bytes, purpose }: Upload,
  { status, ms }: { status: number; ms: number },
): void {
  const line = {
    request_id: requestId,
    user: principal.user,
    token_id: principal.tokenId,
    provider: chosen.route.prefix,
    purpose: purpose !== undefined && /^[a-z_-]{1,32}$/.test(purpose) ? purpose : undefined,
    bytes,
    status,
    ms,
  };
  logger.info(line, "file upload");
}

function quotaExceeded({ quota }: FileDependencies): GatewayError {
  const message = `Your files would exceed the quota of ${quota.filesMax} files and ${quota.bytesMax} bytes; delete some.`;
  return new GatewayError("file_quota_exceeded", message);
}

/** The provider that the request names, and the parts of the form that are for the gateway alone. */
function nameInForm(call: FileCall, form: ReceivedForm) {
  const named = namedProvider(call);
  if ("prefix" in named) return { named, ownParts: [] };
  const ownParts = form.parts.filter(({ name, text }) => name === PROVIDER && text !== undefined);
  return { named: { ...named, asked: [...named.asked, ...ownParts.map(({ text = "" }) => text)] }, ownParts };
}

/** Throws 422 unless there is one file, or the address of one if the upstream fetches it. */
function sizeOf({ parts }: ReceivedForm, { route, files }: FileProvider, bytesMax: number): number {
  for (const part of parts) {
    const reason = Object.entries(files.refusedFields).find(([field]) => field === fieldOf(part))?.[1];
    if (reason !== undefined) throw invalid(fieldOf(part), `${route.prefix} is not asked for this: ${reason}`);
  }
  const sent = parts.filter(({ filename }) => filename !== undefined);
  const other = sent.find(({ name }) => name !== FILE);
  if (other !== undefined) throw invalid(other.name.slice(0, 80), `the only file of an upload is ${FILE}`);
  const isFetched = files.urlField !== undefined && parts.some((part) => fieldOf(part) === files.urlField);
  const [file, second] = sent;
  if (second !== undefined) throw invalid(FILE, "an upload has one file");
  if (isFetched) return Math.max(bytesMax, file?.size ?? 0);
  if (file === undefined) throw invalid(FILE, "the form has no such file");
  return file.size;
}

/** Without brackets and case: not all readers of forms distinguish them. */
function fieldOf({ name }: FormPart): string {
  return (name.split("[", 1)[0] ?? name).toLowerCase();
}

function textOf({ parts }: ReceivedForm, name: string): string | undefined {
  return parts.find((part) => part.name === name)?.text;
}

function invalid(param: string, reason: string): GatewayError {
  return new GatewayError("validation_failed", `${param}: ${reason}`, { param });
}
