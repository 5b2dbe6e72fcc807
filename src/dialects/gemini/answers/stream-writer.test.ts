import { expect, test } from "bun:test";
import { chatUpstream, clientOf } from "../../../../test/kit/dialects/contexts.ts";
import { dataOfStream } from "../../../../test/kit/dialects/fold-chat.ts";
import { chatTranslation } from "../../chat/index.ts";
import { geminiTranslation } from "../index.ts";

test("an answer with any index has one candidate in the last chunk", () => {
  const reader = chatTranslation.streamReader(chatUpstream);
  const writer = geminiTranslation.streamWriter(clientOf());
  const index = 50_000_000;
  const chunks = [
    { id: "x", model: "m", choices: [{ index, delta: { content: "Hi" } }] },
    { id: "x", model: "m", choices: [{ index, delta: {}, finish_reason: "stop" }] },
  ];
  const events = [...chunks.flatMap((chunk) => [...reader.read(JSON.stringify(chunk))]), ...reader.read("[DONE]")];
  const written = dataOfStream([...events, ...reader.close()].map((event) => writer.write(event)).join(""));
  expect(written.at(-1)).toMatchObject({ candidates: [{ index, finishReason: "STOP" }] });
});
