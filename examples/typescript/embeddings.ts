/** Which of two texts is closer to a question. */
import OpenAI from "openai";

const { TOLLGATE_URL = "http://127.0.0.1:8787", TOLLGATE_TOKEN } = process.env;
if (!TOLLGATE_TOKEN) throw new Error("TOLLGATE_TOKEN is not set: use a token that npm start has printed");
const client = new OpenAI({ baseURL: `${TOLLGATE_URL}/v1`, apiKey: TOLLGATE_TOKEN });

const texts = ["The red fox sleeps by day.", "Interest rates rose again."];
const question = "When does a red fox sleep?";
const { data } = await client.embeddings.create({
  model: "openai/text-embedding-3-small",
  input: [question, ...texts],
});
const [asked = [], ...vectors] = data.map(({ embedding }) => embedding);

for (const [index, vector] of vectors.entries()) {
  // The vectors have length 1, so that their product is their similarity.
  const similarity = vector.reduce((sum, value, place) => sum + value * (asked[place] ?? 0), 0);
  console.log(`${similarity.toFixed(3)}  ${texts[index]}`);
}
