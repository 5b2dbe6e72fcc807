import { describe, expect, test } from "bun:test";
import { GatewayError, type JsonObject } from "../../core/index.ts";
import { chatTranslation } from "../chat/index.ts";
import { plainTarget } from "../testing/contexts.ts";
import { inputItems, type KeptItems, readResponsesRequest, referencedItems } from "./index.ts";

const messagesOf = (body: JsonObject, kept?: KeptItems): unknown =>
  chatTranslation.writeRequest(readResponsesRequest({ model: "m", ...body }, kept), plainTarget)["messages"];

function refusal(body: JsonObject, kept?: KeptItems): string | undefined {
  try {
    messagesOf(body, kept);
  } catch (error) {
    if (error instanceof GatewayError && error.status === 422) return error.param;
    throw error;
  }
  return undefined;
}

const call = { type: "function_call", id: "fc_1", call_id: "c1", name: "f", arguments: "{}" };
const said = {
  type: "message",
  id: "msg_2",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "hello", annotations: [], logprobs: [] }],
};

describe("a request that goes on from an earlier response", () => {
  const result = { type: "function_call_output", call_id: "c1", output: "ok" };

  test("has its items in front, behind its own instructions", () => {
    const earlier = [{ role: "user", content: "hi" }, said, call];
    expect(
      messagesOf({ instructions: "Be brief.", previous_response_id: "resp_1", input: [result] }, { earlier }),
    ).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "hi" },
      {
        role: "assistant",
        content: "hello",
        tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "c1", content: "ok" },
    ]);
  });

  test("can't be read without them", () => {
    expect(refusal({ previous_response_id: "resp_1", input: "on" })).toBe("previous_response_id");
    expect(refusal({ input: [result] })).toBe("input.0.call_id");
  });

  test("may say nothing itself, where something was said before", () => {
    expect(messagesOf({ previous_response_id: "r", input: [] }, { earlier: [said] })).toHaveLength(1);
    expect(refusal({ input: [] })).toBe("input");
  });
});

describe("a reference", () => {
  const body = { input: [{ type: "item_reference", id: "msg_2" }, { id: "fc_1" }, { role: "user", content: "on" }] };

  test("stands for the item that it names", () => {
    expect(referencedItems(body)).toEqual(["msg_2", "fc_1"]);
    const items = new Map<string, JsonObject>([["fc_1", call]]);
    const find = (id: string): JsonObject | undefined => items.get(id);
    expect(messagesOf(body, { earlier: [said], find })).toMatchObject([
      { role: "assistant", content: "hello\n\nhello", tool_calls: [{ id: "c1" }] },
      { role: "user" },
    ]);
  });

  test("to nothing is refused by its id", () => {
    expect(refusal(body, { find: () => undefined })).toBe("input.0.id");
    expect(refusal(body)).toBe("input.0");
  });
});

describe("what is kept of a request", () => {
  test("is a message for a string", () => {
    expect(inputItems({ input: "hi" }, "abc")).toEqual([
      {
        type: "message",
        id: "msg_abc_in0",
        status: "completed",
        role: "user",
        content: [{ type: "input_text", text: "hi" }],
      },
    ]);
  });

  test("are items with a type, an id and their content in parts", () => {
    const input = [
      { role: "assistant", content: "hello" },
      said,
      { type: "function_call_output", call_id: "c1", output: "ok" },
      { type: "item_reference", id: "fc_1" },
    ];
    expect(inputItems({ input }, "abc", { find: () => call })).toMatchObject([
      {
        type: "message",
        id: "msg_abc_in0",
        content: [{ type: "output_text", text: "hello", annotations: [], logprobs: [] }],
      },
      said,
      { type: "function_call_output", id: "fco_abc_in2", status: "completed", output: "ok" },
      call,
    ]);
  });

  test("can be read again", () => {
    const input = [
      { role: "user", content: "hi" },
      call,
      { type: "function_call_output", call_id: "c1", output: "ok" },
    ];
    const kept = inputItems({ input }, "abc");
    expect(messagesOf({ previous_response_id: "r", input: "on" }, { earlier: kept })).toHaveLength(4);
  });
});
