import { listOf, objectOf, ReferenceList, type ObjectReader, type StoredObject } from "../../core/index.ts";
import type { ChatRequest } from "./request.ts";

const AUDIO = Buffer.from('"audio"');

/** Files in content parts, earlier spoken answers, and Google's named caches. */
export const chatObjects: ObjectReader<ChatRequest> = {
  references(body) {
    const list = new ReferenceList();
    for (let index = 0; index < body.messages.length; index += 1) {
      const message = body.messages[index];
      const content = message?.content;
      // Most contents are texts, and need no path.
      if (Array.isArray(content)) list.addParts(content, `messages.${index}.content`);
      if (message?.["audio"] !== undefined) list.add("audio", message["audio"], `messages.${index}.audio.id`);
    }
    // Google documents it below `extra_body`; clients that merge that object send `google` alone.
    addCache(list, body["google"], "google");
    addCache(list, objectOf(body["extra_body"])?.["google"], "extra_body.google");
    list.add("cache", body["cached_content"], "cached_content");
    return list.all;
  },

  created({ audio, modalities }) {
    const isSpoken = objectOf(audio) !== undefined || listOf(modalities).includes("audio");
    return isSpoken ? { words: [AUDIO], read: ({ choices }) => listOf(choices).flatMap(audioIn) } : undefined;
  },
};

function addCache(list: ReferenceList, settings: unknown, param: string): void {
  list.add("cache", objectOf(settings)?.["cached_content"], `${param}.cached_content`);
}

function audioIn(choice: unknown): StoredObject[] {
  const { message, delta } = objectOf(choice) ?? {};
  const id = objectOf(objectOf(message ?? delta)?.["audio"])?.["id"];
  return typeof id === "string" ? [{ kind: "audio", id }] : [];
}
