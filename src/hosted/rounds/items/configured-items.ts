/** Runs of code, commands, and searches in files. */
import type { JsonObject } from "../../../core/index.ts";
import type { ConfiguredAction } from "../../requests/configured-tools.ts";
import { textsIn } from "../../requests/configured-tools.ts";
import type { ConfiguredFunction } from "../../requests/functions.ts";
import type { CodeOutput, FoundPassage } from "../../running/tool-output.ts";
import { textOfOutput } from "../../running/tool-output.ts";
import type { ToolErrorCode, ToolOutcome } from "../../running/tool-outcome.ts";
import { type BegunUse, direct, nativeBlock, type UseItems } from "./begun-use.ts";

export const configuredItems = {
  messages({ found: { action } }: ConfiguredFunction, { id, input }: BegunUse): UseItems {
    const use = { type: "server_tool_use", id: `srvtoolu_${id}`, name: action, caller: direct, input };
    return {
      begun: nativeBlock("messages", use),
      result(outcome) {
        const content = contentOf(action, input, outcome);
        const result = { type: `${action}_tool_result`, tool_use_id: use.id, content, caller: direct };
        return nativeBlock("messages", result);
      },
    };
  },
  responses({ found: { action } }: ConfiguredFunction, use: BegunUse): UseItems {
    switch (action) {
      case "file_search":
        return searchItems(use);
      case "shell":
        return shellItems(use);
      default:
        return codeItems(use);
    }
  },
};

const statusOf = ({ error }: ToolOutcome): string => (error === undefined ? "completed" : "failed");

function codeItems({ id, input, includes }: BegunUse): UseItems {
  const code = typeof input["code"] === "string" ? input["code"] : "";
  const item = { id: `ci_${id}`, type: "code_interpreter_call", code, container_id: containerOf(id) };
  return {
    begun: nativeBlock("responses", { ...item, status: "in_progress", outputs: [] }),
    ended(outcome) {
      const outputs = includes.has("code_interpreter_call.outputs")
        ? (outcome.outputs ?? []).flatMap(shownOutput)
        : null;
      return { ...item, status: statusOf(outcome), outputs };
    },
  };
}

/** Every call has one of its own. */
function containerOf(id: string): string {
  return `cntr_${id.split("_", 1)[0] ?? id}`;
}

function shownOutput(output: CodeOutput): JsonObject[] {
  const logs = { type: "logs", logs: textOfOutput({ ...output, images: [] }) };
  return [
    ...(output.images.length > 0 && output.stdout === "" ? [] : [logs]),
    ...output.images.map((url) => ({ type: "image", url })),
  ];
}

function searchItems({ id, input, includes }: BegunUse): UseItems {
  const item = { id: `fs_${id}`, type: "file_search_call" };
  const queries = textsIn(input["queries"]) ?? [];
  return {
    begun: nativeBlock("responses", { ...item, status: "in_progress", queries: [], results: null }),
    ended(outcome) {
      const found = includes.has("file_search_call.results") ? (outcome.passages ?? []).map(shownPassage) : null;
      return { ...item, status: statusOf(outcome), queries, results: found };
    },
  };
}

function shownPassage({ fileId, filename, score, text }: FoundPassage): JsonObject {
  return { file_id: fileId, filename, score, text, attributes: {} };
}

/** The call is whole once it is made; its output is an item of its own. */
function shellItems({ id, input }: BegunUse): UseItems {
  const { timeout_ms = null, max_output_length = null } = input;
  const callId = `call_${id}`;
  const item = {
    id: `sh_${id}`,
    type: "shell_call",
    call_id: callId,
    action: { commands: textsIn(input["commands"]) ?? [], timeout_ms, max_output_length },
    environment: { type: "container_reference", container_id: containerOf(id) },
  };
  return {
    begun: nativeBlock("responses", { ...item, status: "in_progress" }),
    ended: () => ({ ...item, status: "completed" }),
    result({ error, outputs = [], text }) {
      const failure = { stdout: "", stderr: text, outcome: { type: "exit", exit_code: 1 } };
      const timeout = { stdout: "", stderr: "", outcome: { type: "timeout" } };
      const ran =
        error === undefined ? outputs.map(shownRun) : [error === "execution_time_exceeded" ? timeout : failure];
      const output = { id: `sho_${id}`, type: "shell_call_output", call_id: callId, status: "completed" };
      return nativeBlock("responses", { ...output, max_output_length, output: ran });
    },
  };
}

function shownRun({ stdout, stderr, exitCode }: CodeOutput): JsonObject {
  return { stdout, stderr, outcome: { type: "exit", exit_code: exitCode } };
}

/** The content of a result in Messages. */
function contentOf(
  action: ConfiguredAction,
  { command }: JsonObject,
  { error, outputs: [output] = [], text }: ToolOutcome,
): JsonObject {
  if (error !== undefined) return { type: `${action}_tool_result_error`, error_code: errorCodeOf(error) };
  if (output === undefined) return { type: `${action}_tool_result_error`, error_code: "unavailable" };
  const { stdout, stderr, exitCode } = output;
  if (action !== "text_editor_code_execution")
    return { type: `${action}_result`, stdout, stderr, return_code: exitCode, content: [] };
  if (exitCode !== 0)
    return { type: `${action}_tool_result_error`, error_code: "invalid_tool_input", error_message: text };
  const type = `${action}_${String(command)}_result`;
  if (command === "create") return { type, is_file_update: false };
  const nothing = { old_start: null, old_lines: null, new_start: null, new_lines: null };
  if (command === "str_replace") return { type, ...nothing, lines: stdout === "" ? null : stdout.split("\n") };
  const lines = stdout.split("\n").length;
  return { type, file_type: "text", content: stdout, num_lines: lines, start_line: 1, total_lines: lines };
}

/** Anthropic's names for runs of code. */
function errorCodeOf(error: ToolErrorCode): string {
  if (error === "invalid_input") return "invalid_tool_input";
  return error === "too_many_requests" || error === "execution_time_exceeded" ? error : "unavailable";
}
