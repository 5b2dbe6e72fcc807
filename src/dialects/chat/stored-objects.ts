import {
  listOf,
  objectOf,
  type ObjectReader,
  type ObjectReference,
  ReferenceList,
  type StoredObject,
} from "../../core/index.ts";
import type { ChatRequest } from "./request.ts";

const AUDIO = Buffer.from('"audio"');

/** Files in content parts, earlier spoken answers, and Google's named caches. */
export const chatObjects: ObjectReader<ChatRequest> = {
  references: (body) => (mayRefer(body) ? referencesIn(body) : none),

  created({ audio, modalities }) {
    const isSpoken = objectOf(audio) !== undefined || listOf(modalities).includes("audio");
    return isSpoken ? { words: [AUDIO], read: ({ choices }) => listOf(choices).flatMap(audioIn) } : undefined;
  },
};

const none: readonly ObjectReference[] = [];

/** Most contents are texts. */
function mayRefer({ messages, google, extra_body: extra, cached_content: cache }: ChatRequest): boolean {
  if (google !== undefined || extra !== undefined || cache !== undefined) return true;
  return messages.some(({ content, audio }) => Array.isArray(content) || audio !== undefined);
}

function referencesIn(body: ChatRequest): readonly ObjectReference[] {
  const list = new ReferenceList();
  for (const [index, { content, audio }] of body.messages.entries()) {
    list.addParts(content, `messages.${index}.content`);
    list.add("audio", audio, `messages.${index}.audio.id`);
  }
  // Google documents it below `extra_body`; clients that merge that object send `google` alone.
  addCache(list, body["google"], "google");
  addCache(list, objectOf(body["extra_body"])?.["google"], "extra_body.google");
  list.add("cache", body["cached_content"], "cached_content");
  return list.all;
}

function addCache(list: ReferenceList, settings: unknown, param: string): void {
  list.add("cache", objectOf(settings)?.["cached_content"], `${param}.cached_content`);
}

function audioIn(choice: unknown): StoredObject[] {
  const { message, delta } = objectOf(choice) ?? {};
  const id = objectOf(objectOf(message ?? delta)?.["audio"])?.["id"];
  return typeof id === "string" ? [{ kind: "audio", id }] : [];
}
