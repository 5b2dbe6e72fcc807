/** Runs of code and searches in files in the input of a request, as calls and outputs of the functions that stand for them now. */
import { type JsonObject, objectOf, objectsOf, stringOf } from "../../core/index.ts";
import { fenced } from "../running/fence.ts";
import { errorText } from "../running/tool-outcome.ts";
import { textOfOutput } from "../running/tool-output.ts";
import type { FunctionIndex } from "./functions.ts";
import { useIdOf } from "./messages-history.ts";

/**
 * A use of a tool that tools of servers run now. `answered`: the ids of calls of shells that have an output. Undefined for another
 * item, and for one without a function.
 */
export function readRun(
  item: JsonObject,
  index: FunctionIndex,
  answered: ReadonlySet<unknown>,
): JsonObject[] | undefined {
  const { type, id, call_id: callId } = item;
  const action = runActions.get(type);
  const called = action === undefined ? undefined : index.withAction(action);
  if (called === undefined) return undefined;
  // A shell's call and its output are two items.
  if (type === "shell_call_output") {
    const text = stringOf(callId);
    return [outputItem(text, fenced(shellOutput(item), useIdOf(text)))];
  }
  const { code, queries } = item;
  const input = type === "shell_call" ? objectOf(item["action"]) : type === "file_search_call" ? { queries } : { code };
  const key = stringOf(type === "shell_call" ? callId : id);
  const call = { type: "function_call", call_id: key, name: called.name, arguments: JSON.stringify(input ?? {}) };
  // One that was not paid has no output, and no provider takes a call without one.
  if (type === "shell_call") return answered.has(key) ? [call] : [call, outputItem(key, errorText("unavailable"))];
  if (item["status"] === "failed") return [call, outputItem(key, errorText("unavailable"))];
  const found = type === "file_search_call" ? passagesOf(item) : logsOf(item);
  const text = found ?? "The result is not in this conversation any more.";
  return [call, outputItem(key, fenced(text, useIdOf(key)))];
}

const runActions: ReadonlyMap<unknown, string> = new Map([
  ["code_interpreter_call", "code_interpreter"],
  ["file_search_call", "file_search"],
  ["shell_call", "shell"],
  ["shell_call_output", "shell"],
]);

function outputItem(callId: string, output: string): JsonObject {
  return { type: "function_call_output", call_id: callId, output };
}

function logsOf({ outputs }: JsonObject): string | undefined {
  if (!Array.isArray(outputs)) return undefined;
  return objectsOf(outputs)
    .map(({ logs }) => stringOf(logs))
    .join("\n");
}

function passagesOf({ results }: JsonObject): string | undefined {
  if (!Array.isArray(results)) return undefined;
  const texts = objectsOf(results).map(({ filename, text }) => `${stringOf(filename)}\n${stringOf(text)}`);
  return texts.length === 0 ? "Nothing was found." : texts.join("\n\n");
}

function shellOutput({ output }: JsonObject): string {
  const runs = objectsOf(output).map(({ stdout, stderr, outcome }) => {
    const { exit_code: code, type } = objectOf(outcome) ?? {};
    const exitCode = typeof code === "number" ? code : type === "timeout" ? 124 : 0;
    return textOfOutput({ stdout: stringOf(stdout), stderr: stringOf(stderr), exitCode });
  });
  return runs.join("\n\n");
}
