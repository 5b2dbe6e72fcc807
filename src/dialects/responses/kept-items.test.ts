import { describe, expect, test } from "bun:test";
import { GatewayError, type JsonObject } from "../../core/index.ts";
import { chatTranslation } from "../chat/index.ts";
import { plainTarget } from "../../../test/kit/dialects/contexts.ts";
import { inputItems, readResponsesRequest, referencedItems } from "./index.ts";

const messagesOf = (body: JsonObject): unknown =>
  chatTranslation.writeRequest(readResponsesRequest({ model: "m", ...body }), plainTarget)["messages"];

function refusal(body: JsonObject): string | undefined {
  try {
    messagesOf(body);
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

test("a request that goes on from an earlier response can't be read without its items in front", () => {
  const result = { type: "function_call_output", call_id: "c1", output: "ok" };
  expect(refusal({ previous_response_id: "resp_1", input: "on" })).toBe("previous_response_id");
  expect(refusal({ input: [result] })).toBe("input.0.call_id");
  expect(refusal({ input: [] })).toBe("input");
});

describe("a reference", () => {
  const body = { input: [{ type: "item_reference", id: "msg_2" }, { id: "fc_1" }, { role: "user", content: "on" }] };

  test("stands for the item that it names", () => {
    expect(referencedItems(body)).toEqual(["msg_2", "fc_1"]);
    const items = new Map<string, JsonObject>([
      ["fc_1", call],
      ["msg_2", said],
    ]);
    expect(inputItems(body, "abc", (id) => items.get(id))).toMatchObject([said, call, { role: "user" }]);
  });

  test("to nothing is refused by its id, and one that was not looked up cannot be read", () => {
    expect(() => inputItems(body, "abc", () => undefined)).toThrow("no item is kept that has this id");
    expect(refusal(body)).toBe("input.0");
  });
});

describe("the stored part of a request", () => {
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
    expect(inputItems({ input }, "abc", () => call)).toMatchObject([
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
    expect(messagesOf({ input: [...kept, { role: "user", content: "on" }] })).toHaveLength(4);
  });
});
