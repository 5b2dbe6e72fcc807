import { expect, test } from "bun:test";
import { openStorage } from "../../test/kit/storage.ts";
import { type JsonObject, limits } from "../core/index.ts";
import { Conversations, openConversationStore, openResponseStore, ResponseStoreService } from "../objects/index.ts";
import { principalOf, targetOf } from "../sending/__fixtures__/upstreams.ts";
import { keepingOf } from "./kept-response.ts";

const at = 1_000_000;
const response = { id: "resp_1", object: "response", output: [] };

async function keeping(given: JsonObject, bytes: number) {
  const storage = await openStorage("sqlite::memory:");
  const responses = openResponseStore(storage);
  const randomBytes = (size: number): Uint8Array => crypto.getRandomValues(new Uint8Array(size));
  const conversations = new Conversations({ store: openConversationStore(storage), clock: () => at, randomBytes });
  const store = new ResponseStoreService({ responses, conversations, clock: () => at });
  const logged: unknown[] = [];
  const note = (...all: unknown[]): void => void logged.push(all);
  const logger = { info: note, warn: note, error: note, flush: note };
  const target = targetOf("deepseek/deepseek-chat", ["responses", "chat"]);
  const call = { store, principal: principalOf("alice"), target, given, bytes, requestId: "req_1", logger };
  return { storage, responses, logged, ...(await keepingOf(call)) };
}

test("a response is kept for its user", async () => {
  const { kept, own, responses, storage } = await keeping({ input: "Hi" }, 100);
  await kept?.(response);
  expect(own).not.toHaveProperty("store");
  expect(await responses.find("resp_1", "alice", at)).toMatchObject({ owner: "alice" });
  await storage.close();
});

test("a paid answer that cannot be stored is logged, and given all the same", async () => {
  const { kept, logged, storage } = await keeping({ input: "Hi" }, 100);
  await storage.close();
  await kept?.(response);
  expect(JSON.stringify(logged)).toContain("records of the answer not kept");
});

test("one of a body that is too large is not stored, and says so", async () => {
  const { kept, own, responses, storage } = await keeping({ input: "Hi", store: true }, limits.storedRoundBytesMax + 1);
  await kept?.(response);
  expect(own["store"]).toBe(false);
  expect(await responses.find("resp_1", "alice", at)).toBeUndefined();
  await storage.close();
});
