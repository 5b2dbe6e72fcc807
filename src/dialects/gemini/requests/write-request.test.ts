import { expect, test } from "bun:test";
import { geminiTranslation } from "../index.ts";

const target = { model: "gemini-3-flash-preview", origin: "google" };
const rewritten = (body: object) =>
  geminiTranslation.writeRequest(geminiTranslation.readRequest({ model: "google/x", ...body }), target);

test("a body that is written anew keeps the members of its parts that no other dialect has", () => {
  const address = "https://www.youtube.com/watch?v=1";
  const parts = [
    {
      fileData: { fileUri: address, mimeType: "video/mp4" },
      videoMetadata: { startOffset: "10s", fps: 2 },
      mediaResolution: { level: "MEDIA_RESOLUTION_LOW" },
    },
    { fileData: { fileUri: "https://a.example/photo", mimeType: "image/png" } },
    { fileData: { fileUri: "https://a.example/paper", mimeType: "application/pdf", displayName: "a.pdf" } },
    { inlineData: { mimeType: "audio/pcm;rate=16000", data: "AAAA" }, partMetadata: { a: 1 } },
    { inlineData: { mimeType: "video/mp4", data: "AAAA" }, videoMetadata: { fps: 1 } },
  ];
  expect(rewritten({ contents: [{ role: "user", parts }] })["contents"]).toEqual([{ role: "user", parts }]);
});

test("modifiers in snake case are written in camel case", () => {
  const parts = [
    { file_data: { file_uri: "https://a.example/film", mime_type: "video/mp4" }, video_metadata: { fps: 1 } },
  ];
  expect(rewritten({ contents: [{ role: "user", parts }] })["contents"]).toEqual([
    {
      role: "user",
      parts: [{ fileData: { fileUri: "https://a.example/film", mimeType: "video/mp4" }, videoMetadata: { fps: 1 } }],
    },
  ]);
});
