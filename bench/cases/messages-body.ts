import { chatMarker } from "../upstream/answers.ts";
import { bodyBytes } from "./body.ts";
import type { BenchCall, BenchCase } from "./case.ts";
import { chatPath } from "./chat.ts";
import { messagesPath } from "./messages-stream.ts";

const imageCount = 4;
const question = "What do these pictures have in common?";

/** As varied as the data of a picture, and the same in every run. */
function imageData(): string {
  const bytes = Buffer.alloc(Math.floor((bodyBytes / imageCount) * 0.75) - 96);
  let state = 1;
  for (let at = 0; at < bytes.length; at += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[at] = state >>> 24;
  }
  return bytes.toString("base64");
}

/** A body of one question about the pictures, each written by `image`. */
function bodyWith(model: string, image: (data: string) => object): string {
  const data = imageData();
  const content = [...Array.from({ length: imageCount }, () => image(data)), { type: "text", text: question }];
  return JSON.stringify({ model, messages: [{ role: "user", content }], max_tokens: 256 });
}

const imageOfChat = (data: string): object => ({
  type: "image_url",
  image_url: { url: `data:image/png;base64,${data}` },
});

const imageOfMessages = (data: string): object => ({
  type: "image",
  source: { type: "base64", media_type: "image/png", data },
});

const inChat: BenchCall = {
  path: chatPath,
  upstream: "chat",
  body: (model) => bodyWith(model, imageOfChat),
  expectation: { kind: "json", marker: chatMarker },
};

export const messagesBody: BenchCase = {
  name: "messages-body",
  title: `Messages call of 1 MB with ${imageCount} images, translated to chat, not streamed`,
  path: messagesPath,
  upstream: "chat",
  body: (model) => bodyWith(model, imageOfMessages),
  expectation: { kind: "json", marker: chatMarker },
  direct: inChat,
  proxies: ["tollgate"],
};
