/**
 * Makes a token with a small budget, calls until it is used up, and shows the refusal that a client gets. Runs on the gateway's
 * machine, since the command line writes to its storage.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import OpenAI from "openai";

const { TOLLGATE_URL = "http://127.0.0.1:8787" } = process.env;
const command = "tollgate token create --user example --credits 1 --max-budget 0.00025 --json";
const created = execFileSync("npx", command.split(" "), { cwd: join(import.meta.dirname, "../.."), encoding: "utf8" });
const { token } = JSON.parse(created) as { token: string };
const client = new OpenAI({ baseURL: `${TOLLGATE_URL}/v1`, apiKey: token });

async function callUntilRefused() {
  for (let call = 1; call <= 20; call++) {
    try {
      await client.chat.completions.create({
        model: "openai/gpt-5-mini",
        // A call needs room for the most that it may cost.
        max_completion_tokens: 100,
        messages: [{ role: "user", content: "Hello!" }],
      });
      console.log(`call ${call}: answered`);
    } catch (error) {
      if (!(error instanceof OpenAI.APIError) || error.code !== "insufficient_credits") throw error;
      // Trying again does not help, and the SDK does not: somebody has to raise the budget.
      console.log(`call ${call}: ${error.status} ${error.code} (${error.requestID})`);
      console.log(error.message);
      return;
    }
  }
  throw new Error("The budget was never used up.");
}

await callUntilRefused();
