import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { GatewayError } from "../../core/index.ts";
import { checkMemberNames } from "./member-names.ts";
import { scanObject } from "./scan.ts";

const object = z.looseObject({ model: z.string(), messages: z.unknown(), speed: z.number().nullish() });
const transformed = object.transform((body) => ({ ...body, stream: true }));

/** The refused member; undefined if all are accepted. */
function refused(text: string, schema: z.ZodType = object): string | undefined {
  const scan = scanObject(Buffer.from(text), {
    depthMax: 64,
    membersMax: 64,
    valuesMax: 64,
    keysMax: 64,
    bareBytesMax: 64,
  });
  if ("refused" in scan) throw new Error(`refused as ${scan.refused}: ${text}`);
  try {
    checkMemberNames(scan.members, schema, ["tools"]);
    return undefined;
  } catch (thrown) {
    if (thrown instanceof GatewayError && thrown.status === 422) return thrown.param;
    throw thrown;
  }
}

describe("a key that occurs twice", () => {
  test.each<[string, string | undefined]>([
    ['{"model":1,"model":2}', "model"],
    [String.raw`{"model":1,"mod\u0065l":2}`, "model"],
    [String.raw`{"\u006dodel":1,"x":{},"\u006dodel":2}`, "model"],
    ['{"a":{"model":1,"model":2},"model":3}', undefined],
    ['{"__proto__":1,"__proto__":2}', "__proto__"],
    ["{}", undefined],
    ['{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"j":10}', undefined],
    ['{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"b":9,"a":10}', "b"],
    ['{"a":1,"b":2,"c":3,"b":9,"a":10}', "b"],
  ])("in %s is %p", (text, key) => {
    expect(refused(text)).toBe(key);
  });
});

describe("a key in another case than one that is read", () => {
  test.each<[string, string | undefined]>([
    ['{"model":1,"Model":2}', "Model"],
    ['{"MODEL":1}', "MODEL"],
    [String.raw`{"\u004dodel":1}`, "Model"],
    ['{"ſpeed":2}', "ſpeed"],
    ['{"Tools":[]}', "Tools"],
    ['{"topK":1,"topk":2}', undefined],
    ['{"topK":1,"enableThinking":true,"top_k":2}', undefined],
    ['{"a":{"Model":1}}', undefined],
  ])("in %s is %p", (text, key) => {
    expect(refused(text)).toBe(key);
    expect(refused(text, transformed)).toBe(key);
  });
});

test("the names of a schema that is no object are unknown, which is an error of the route", () => {
  expect(() => refused('{"Model":1}', z.string())).toThrow("must be an object");
});
