/** Sends the same call twice with one Idempotency-Key: the second gets the first answer again and costs nothing. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import OpenAI from "openai";

const { TOLLGATE_URL = "http://127.0.0.1:8787", TOLLGATE_TOKEN } = process.env;
if (!TOLLGATE_TOKEN) throw new Error("TOLLGATE_TOKEN is not set: use a token that npm start has printed");
const client = new OpenAI({ baseURL: `${TOLLGATE_URL}/v1`, apiKey: TOLLGATE_TOKEN });

// One key for each thing that you want done, the same for each try.
const key = randomUUID();
const ask = () =>
  client.chat.completions
    .create(
      { model: "openai/gpt-5-mini", messages: [{ role: "user", content: "Hello!" }] },
      { headers: { "Idempotency-Key": key } },
    )
    .withResponse();

async function balance() {
  const info: { balance: number } = await client.get("/user/info");
  return info.balance;
}

const before = await balance();
const first = await ask();
const afterFirst = await balance();
const second = await ask();
const afterSecond = await balance();

console.log(`balance: ${before}, then ${afterFirst}, then ${afterSecond}`);
assert.deepEqual(second.data, first.data);
assert.equal(second.response.headers.get("idempotent-replayed"), "true");
assert(afterFirst < before);
assert.equal(afterSecond, afterFirst);
console.log("The same answer twice, charged once.");
