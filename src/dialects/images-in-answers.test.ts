/** Images that a chat upstream puts into its answers (OpenRouter), for clients of each dialect, and back. */
import { expect, test } from "bun:test";
import type { Dialect, JsonObject } from "../core/index.ts";
import { streamOfAnswer, translations } from "./index.ts";
import { chatUpstream, clientOf, plainTarget } from "../../test/kit/dialects/contexts.ts";
import { foldChat } from "../../test/kit/dialects/fold-chat.ts";
import { foldGemini } from "../../test/kit/dialects/fold-gemini.ts";
import { foldMessages } from "../../test/kit/dialects/fold-messages.ts";
import { foldResponses } from "../../test/kit/dialects/fold-responses.ts";

const png = "data:image/png;base64,iVBORw0KGgo=";
const image = { type: "image_url", image_url: { url: png }, index: 0 };

const answerOf = (...images: JsonObject[]) =>
  translations.chat.readAnswer(
    { choices: [{ index: 0, message: { content: "Here:", images }, finish_reason: "stop" }] },
    chatUpstream,
  );

const folds = { chat: foldChat, messages: foldMessages, responses: foldResponses, gemini: foldGemini };

function shownTo(dialect: Dialect, url = png): JsonObject {
  const answer = answerOf({ type: "image_url", image_url: { url }, index: 0 });
  const of = translations[dialect];
  const whole = JSON.parse(of.writeAnswer(answer, clientOf())) as JsonObject;
  expect(folds[dialect](streamOfAnswer(answer, of, clientOf()))).toMatchObject(contentOf(dialect, whole));
  return whole;
}

const contentOf = (dialect: Dialect, whole: JsonObject): JsonObject => {
  const member = { chat: "choices", messages: "content", responses: "output", gemini: "candidates" }[dialect];
  return { [member]: whole[member] };
};

test("a client of chat gets it beside the text, as from OpenRouter", () => {
  expect(shownTo("chat")).toMatchObject({ choices: [{ message: { content: "Here:", images: [image] } }] });
});

test("a client of Messages gets it as a text in Markdown", () => {
  expect(shownTo("messages")).toMatchObject({
    content: [
      { type: "text", text: "Here:" },
      { type: "text", text: `![image](${png})` },
    ],
  });
});

test("a client of Responses gets it as OpenAI's tool for images gives one", () => {
  const item = { type: "image_generation_call", status: "completed", result: "iVBORw0KGgo=" };
  expect(shownTo("responses")).toMatchObject({ output: [{ type: "message" }, item] });
});

test("one by its address is a text in Markdown in Responses, too", () => {
  const [, text] = ["Here:", "![image](https://x.test/1.png)"];
  expect(JSON.stringify(shownTo("responses", "https://x.test/1.png")["output"])).toContain(`"text":"${text}"`);
});

test("one that OpenAI's tool has made is one for clients of the others, and keeps its item in Responses", () => {
  const item = {
    type: "image_generation_call",
    id: "ig_1",
    status: "completed",
    result: "iVBORw0KGgo=",
    output_format: "webp",
  };
  const answer = translations.responses.readAnswer({ status: "completed", output: [item] }, chatUpstream);
  const webp = "data:image/webp;base64,iVBORw0KGgo=";
  const shown = (dialect: Dialect): unknown => JSON.parse(translations[dialect].writeAnswer(answer, clientOf()));
  expect(shown("chat")).toMatchObject({ choices: [{ message: { images: [{ image_url: { url: webp } }] } }] });
  expect(shown("messages")).toMatchObject({ content: [{ type: "text", text: `![image](${webp})` }] });
  expect(shown("responses")).toMatchObject({ output: [item] });
  expect(foldResponses(streamOfAnswer(answer, translations.responses, clientOf()))).toMatchObject({ output: [item] });
});

test("one that a stream repeats is shown once", () => {
  expect(answerOf(image, image).choices[0]?.blocks).toHaveLength(2);
});

/** The client's next request. */
function nextRequest(dialect: Dialect): JsonObject {
  const whole = shownTo(dialect) as Record<string, unknown>;
  const [asked, again] = [
    { role: "user", content: "a cat" },
    { role: "user", content: "make it black" },
  ];
  switch (dialect) {
    case "chat":
      return { model: "m", messages: [asked, (whole["choices"] as { message: JsonObject }[])[0]?.message, again] };
    case "messages":
      return { model: "m", max_tokens: 9, messages: [asked, { role: "assistant", content: whole["content"] }, again] };
    case "gemini": {
      const [candidate] = whole["candidates"] as { content: JsonObject }[];
      const [first, last] = ["a cat", "make it black"].map((text) => ({ role: "user", parts: [{ text }] }));
      return { model: "m", contents: [first, candidate?.content, last] };
    }
    case "responses":
      return { model: "m", input: [asked, ...(whole["output"] as JsonObject[]), again] };
  }
}

const dialects: readonly Exclude<Dialect, "gemini">[] = ["chat", "messages", "responses"];

test("a client of Gemini gets it as data, and an upstream of Gemini gets it back in the model's turn", () => {
  const part = { inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } };
  expect(shownTo("gemini")).toMatchObject({ candidates: [{ content: { parts: [{ text: "Here:" }, part] } }] });
  const conversation = translations.gemini.readRequest(nextRequest("gemini"));
  const { contents } = translations.gemini.writeRequest(conversation, plainTarget);
  expect(contents).toMatchObject([
    { role: "user" },
    { role: "model", parts: [{ text: "Here:" }, part] },
    { role: "user" },
  ]);
});

const clients: readonly Dialect[] = [...dialects, "gemini"];

test.each(clients.flatMap((from) => dialects.map((to) => [from, to] as const)))(
  "returned by a client of %s, it reaches an upstream of %s as an image",
  (from, to) => {
    const conversation = translations[from].readRequest(nextRequest(from));
    const body = JSON.parse(JSON.stringify(translations[to].writeRequest(conversation, plainTarget))) as JsonObject;
    const written = JSON.stringify(body);
    expect(written).toContain("iVBORw0KGgo=");
    expect(written).not.toContain("![image]");
    if (from === to && from !== "messages") return;
    const messages = (body["messages"] ?? body["input"]) as { role: string; content: JsonObject[] }[];
    const kinds = { chat: "image_url", messages: "image", responses: "input_image" };
    expect(messages.at(-1)).toMatchObject({
      role: "user",
      content: [{ text: "Of the answer before:" }, { type: kinds[to] }, { text: "make it black" }],
    });
  },
);
