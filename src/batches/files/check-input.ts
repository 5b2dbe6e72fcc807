/** The check of a batch's input before its first line is called: what fails here costs nothing. */
import { GatewayError } from "../../core/index.ts";
import { linesOf } from "./kept-lines.ts";
import { isFault, readLine } from "./read-line.ts";
import type { InputError, KeptFile, KeptFileStore, StoredBatch } from "../store.ts";

/** Errors that are listed. */
const ERRORS_MAX = 100;

interface InputBounds {
  linesMax: number;
  lineBytesMax: number;
}

interface CheckDependencies {
  files: Pick<KeptFileStore, "part">;
  bounds: InputBounds;
  /** Throws if the model is none, or one that the caller may not use. */
  resolve: (model: string) => void;
  signal: AbortSignal;
}

export interface CheckedInput {
  /** Lines. */
  total: number;
  /** The model that the batch shows. */
  model: string | undefined;
  /** All models that are named; none of them is a Messages' own. */
  models: readonly string[];
}

/** Reads the whole input; or tells why the batch fails. */
export async function checkInput(
  { files, bounds, resolve, signal }: CheckDependencies,
  file: KeptFile | undefined,
  batch: Pick<StoredBatch, "kind" | "endpoint">,
): Promise<CheckedInput | { errors: InputError[] }> {
  if (file === undefined) return { errors: [whole("invalid_file", "The input file does not exist any more.")] };
  const errors: InputError[] = [];
  const ids = new Set<string>();
  const models = new Map<string, GatewayError | undefined>();
  let total = 0;
  for await (const { number, bytes } of linesOf(files, file, bounds.lineBytesMax)) {
    signal.throwIfAborted();
    if (bytes === undefined) {
      const message = `A line of a batch has at most ${bounds.lineBytesMax} bytes.`;
      errors.push({ code: "line_too_long", message, param: null, line: number });
      break;
    }
    total += 1;
    if (total > bounds.linesMax) {
      errors.push({ ...whole("too_many_lines", `A batch has at most ${bounds.linesMax} lines.`), line: number });
      break;
    }
    const fault = faultOf(bytes, batch, { ids, models, resolve });
    if (fault !== undefined) errors.push({ ...fault, line: number });
    if (errors.length >= ERRORS_MAX) break;
  }
  if (errors.length > 0) return { errors };
  if (total === 0) return { errors: [whole("empty_file", "The input file has no lines.")] };
  // Those of Messages may be none: they are neither resolved nor shown.
  const isOne = batch.kind === "calls" && models.size === 1;
  return { total, model: isOne ? models.keys().next().value : undefined, models: [...models.keys()] };
}

function faultOf(
  bytes: Uint8Array,
  batch: Pick<StoredBatch, "kind" | "endpoint">,
  {
    ids,
    models,
    resolve,
  }: { ids: Set<string>; models: Map<string, GatewayError | undefined>; resolve: (model: string) => void },
): Omit<InputError, "line"> | undefined {
  const line = readLine(bytes, batch);
  if (isFault(line)) return line;
  const { customId, model } = line;
  if (ids.has(customId)) {
    return {
      code: "duplicate_custom_id",
      message: "The custom_id of this line is that of an earlier one.",
      param: "custom_id",
    };
  }
  ids.add(customId);
  if (!models.has(model)) models.set(model, refusalOf(model, resolve));
  const refusal = models.get(model);
  if (refusal === undefined) return undefined;
  return { code: refusal.code, message: refusal.message, param: "body.model" };
}

function refusalOf(model: string, resolve: (model: string) => void): GatewayError | undefined {
  try {
    resolve(model);
    return undefined;
  } catch (reason) {
    if (reason instanceof GatewayError) return reason;
    throw reason;
  }
}

function whole(code: string, message: string): InputError {
  return { code, message, param: null, line: null };
}
