/**
 * Makes a token for two requests a minute, and shows the refusal of the third. Runs on the gateway's machine,
 * since the command line writes to its storage.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import OpenAI from "openai";

const { TOLLGATE_URL = "http://127.0.0.1:8787" } = process.env;
const command = "tollgate token create --user example --credits 1 --rpm 2 --json";
const created = execFileSync("npx", command.split(" "), { cwd: join(import.meta.dirname, "../.."), encoding: "utf8" });
const { token } = JSON.parse(created) as { token: string };
// By default the SDK waits as long as retry-after demands, and tries twice more.
const client = new OpenAI({ baseURL: `${TOLLGATE_URL}/v1`, apiKey: token, maxRetries: 0 });

async function callUntilRefused() {
  for (let call = 1; call <= 3; call++) {
    try {
      const { response } = await client.embeddings
        .create({ model: "openai/text-embedding-3-small", input: "Hello!" })
        .withResponse();
      console.log(`call ${call}: ${response.headers.get("x-ratelimit-remaining-requests")} more in this minute`);
    } catch (error) {
      if (!(error instanceof OpenAI.RateLimitError)) throw error;
      console.log(`call ${call}: ${error.status} ${error.code}, again in ${error.headers.get("retry-after")} s`);
      return;
    }
  }
  throw new Error("The limit was never reached.");
}

await callUntilRefused();
