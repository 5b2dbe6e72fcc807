import type { Bar } from "../report/bar.ts";
import { count, decimals, markdownTable, megabytes } from "../report/format.ts";
import type { ToolsFigures } from "./measure.ts";

const addedMsMax = 0.5;
const chatRatioMax = 2;
const staticRatioMax = 2;
const searchMsMax = 5;
const listenerBytesMax = 60e6;

export function toolsTable({ calls, search, listeners, problem }: ToolsFigures): string {
  const rows = [
    ["a call over HTTP, added p50", `${decimals(calls.addedHttpMs, 2)} ms`],
    ["a call of a program over stdio, added p50", `${decimals(calls.addedStdioMs, 2)} ms`],
    ["a call over HTTP, CPU; a chat call", `${decimals(calls.callCpu, 0)} µs; ${decimals(calls.chatCpu, 0)} µs`],
    [
      "a list of 500 tools, CPU; its bytes alone",
      `${decimals(calls.listCpu, 0)} µs; ${decimals(calls.staticCpu, 0)} µs`,
    ],
    [
      "the official SDK's handler: CPU of a call, of the list",
      `${decimals(calls.sdkCallCpu, 0)} µs; ${decimals(calls.sdkListCpu, 0)} µs`,
    ],
    [
      "LiteLLM's gateway before the same server: CPU of a call, of the list",
      `${decimals(calls.litellmCallCpu, 0)} µs; ${decimals(calls.litellmListCpu, 0)} µs`,
    ],
    [`memory of ${count(listeners.streams)} streams of changes`, `${megabytes(listeners.bytes)} MB`],
    [`a search over ${count(search.tools)} tools, p50`, `${decimals(search.p50, 2)} ms`],
    [`… CPU by "${search.slowest.query}", the slowest`, `${decimals(search.slowest.ms, 2)} ms`],
  ];
  return `${markdownTable(["Tools of other servers", problem ?? ""], rows)}\n`;
}

export function toolsBars({ calls, search, listeners, problem }: ToolsFigures): Bar[] {
  const bar = (promise: string, measured: string, isKept: boolean): Bar => ({
    promise,
    measured: problem ?? measured,
    kept: problem === null && isKept,
  });
  const ratio = calls.callCpu / calls.chatCpu;
  const listRatio = calls.listCpu / calls.staticCpu;
  const { addedHttpMs, addedStdioMs } = calls;
  return [
    bar(
      `a tool call over HTTP adds less than ${addedMsMax} ms`,
      `${decimals(addedHttpMs, 2)} ms`,
      addedHttpMs < addedMsMax,
    ),
    bar(
      `a tool call over stdio adds less than ${addedMsMax} ms`,
      `${decimals(addedStdioMs, 2)} ms`,
      addedStdioMs < addedMsMax,
    ),
    bar(
      `a tool call takes at most ${chatRatioMax} × a chat call's CPU`,
      `${decimals(ratio, 1)} ×`,
      ratio <= chatRatioMax,
    ),
    bar(
      `a list of 500 tools takes at most ${staticRatioMax} × the CPU of its bytes alone`,
      `${decimals(listRatio, 1)} ×`,
      listRatio <= staticRatioMax,
    ),
    bar(
      `${count(listeners.streams)} streams of changes take less than ${megabytes(listenerBytesMax)} MB`,
      `${megabytes(listeners.bytes)} MB`,
      listeners.bytes < listenerBytesMax,
    ),
    bar(
      `a search over ${count(search.tools)} tools takes less than ${searchMsMax} ms of CPU, whatever its words`,
      `${decimals(search.slowest.ms, 2)} ms`,
      search.slowest.ms < searchMsMax,
    ),
  ];
}
