import { type JsonObject, listOf, objectOf } from "./json.ts";

/**
 * Objects that an upstream stores and that a later call can refer to by id. All callers share the upstream's key, so
 * the upstream would give any of them another caller's object.
 */
export const objectKinds = {
  /** An output item of Responses. */
  item: { createdBy: "answers" },
  /** A message of a Messages thread. */
  message: { createdBy: "answers" },
  /** A spoken answer of chat completions. */
  audio: { createdBy: "answers" },
  /** An encrypted thought, or the signature of one, by a hash of its beginning. Its upstream stores none. */
  thought: { createdBy: "answers" },
  /** Where hosted tools run code. */
  container: { createdBy: "anyone" },
  /** A video job. Its owner is in the job's own record. */
  video: { createdBy: "answers" },
  file: { createdBy: "anyone" },
  vector_store: { createdBy: "anyone" },
  conversation: { createdBy: "anyone" },
  prompt: { createdBy: "anyone" },
  skill: { createdBy: "anyone" },
  /** Cached input under a name of its own. */
  cache: { createdBy: "anyone" },
  user_profile: { createdBy: "anyone" },
} as const satisfies Record<string, { createdBy: "answers" | "anyone" }>;

export type ObjectKind = keyof typeof objectKinds;

/** An object in an upstream's answer. */
export interface StoredObject {
  kind: ObjectKind;
  id: string;
}

/** An object that a request refers to. An id that is not a string is empty, and belongs to nobody. */
export interface ObjectReference extends StoredObject {
  /** The path of the field: `input.2.id`. */
  param: string;
}

/** Finds the stored objects in the bodies and the answers of one API. */
export interface ObjectReader<Body> {
  /** The objects that the upstream would look up for this body. Objects that the body contains whole are not included. */
  references(body: Body): readonly ObjectReference[];
  /** The reader of the objects that the answer to this body creates; undefined if it creates none. */
  created(body: Body): CreatedObjects | undefined;
}

/** Finds the objects that an answer creates. */
export interface CreatedObjects {
  /** An event of a stream that contains none of these words creates nothing. */
  words: readonly Buffer[];
  /** The objects in a whole answer or an event. Only the upstream's own text counts, never a caller's. */
  read(answer: JsonObject): readonly StoredObject[];
}

/** Whether an address is that of a file that an upstream stores. */
export function isStoredUrl(url: string): boolean {
  return STORED_URL.test(url);
}

/** Addresses of files that an upstream stores: Moonshot's, BytePlus's and Google's. */
const STORED_URL = /^(?:ms:\/\/|asset:\/\/|https:\/\/generativelanguage\.googleapis\.com\/(?:.*\/)?files\/)/i;

/** Members of a content part that contain its source. Others may hold a caller's own data, such as a tool's arguments. */
const SOURCES = ["source", "file", "image_url", "video_url", "audio_url", "document_url", "input_audio"] as const;

/** Collects the references in a body. */
export class ReferenceList {
  readonly all: ObjectReference[] = [];

  /** A reference by id, or by an object with an `id`; nothing if it is null or absent. */
  add(kind: ObjectKind, value: unknown, param: string): void {
    if (value === undefined || value === null) return;
    const id = objectOf(value)?.["id"] ?? value;
    this.all.push({ kind, id: typeof id === "string" ? id : "", param });
  }

  /** A list of ids. */
  addEach(kind: ObjectKind, values: unknown, param: string): void {
    for (const [index, value] of listOf(values).entries()) this.add(kind, value, `${param}.${index}`);
  }

  /** The files in content parts. */
  addParts(parts: unknown, param: string): void {
    if (!Array.isArray(parts)) return;
    for (let index = 0; index < parts.length; index += 1) {
      const part = objectOf(parts[index]);
      if (part !== undefined) this.addPart(part, `${param}.${index}`);
    }
  }

  /** The file in one content part: its own `file_id`, that of its source, or the address of a stored file. */
  addPart(part: JsonObject, param: string): void {
    this.#addFile(part, param);
    for (const name of SOURCES) {
      const source = part[name];
      if (source === undefined) continue;
      const object = objectOf(source);
      if (object === undefined) this.addUrl(source, `${param}.${name}`);
      else this.#addFile(object, `${param}.${name}`);
    }
  }

  /** A URL, if it is that of a stored file. */
  addUrl(url: unknown, param: string): void {
    if (typeof url === "string" && isStoredUrl(url)) this.add("file", url, param);
  }

  #addFile(source: JsonObject, param: string): void {
    this.add("file", source["file_id"], `${param}.file_id`);
    this.addUrl(source["url"], `${param}.url`);
    this.addUrl(source["file_url"], `${param}.file_url`);
  }
}
