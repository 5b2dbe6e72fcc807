/** OpenAI's Responses with Gemini: the second turn names the first instead of repeating it. */
import OpenAI from "openai";

const { TOLLGATE_URL = "http://127.0.0.1:8787", TOLLGATE_TOKEN } = process.env;
if (!TOLLGATE_TOKEN) throw new Error("TOLLGATE_TOKEN is not set: use a token that npm start has printed");
const client = new OpenAI({ baseURL: `${TOLLGATE_URL}/v1`, apiKey: TOLLGATE_TOKEN });

const first = await client.responses.create({ model: "google/gemini-2.5-flash", input: "Hello!" });
console.log(first.output_text);

const second = await client.responses.create({
  model: "google/gemini-2.5-flash",
  previous_response_id: first.id,
  input: "And in French?",
});
console.log(second.output_text);
