/**
 * The keys of a conversation's encrypted thoughts, at providers with several keys: its calls begin with the key that made the
 * newest of them, for any other key's account cannot read them.
 */
import type { CreatedObjects } from "../core/index.ts";
import { createdThoughts } from "../dialects/index.ts";
import type { AnswerRecords, ObjectRecords } from "./answer-records.ts";

/** The records of an answer, with its own encrypted thoughts. */
export function withThoughts(
  records: AnswerRecords | undefined,
  keeping: Pick<ObjectRecords, "known" | "record">,
): AnswerRecords {
  const before = records?.objects;
  const created = before === undefined ? createdThoughts : both(before.created, createdThoughts);
  return { storeResponse: undefined, ...records, objects: { ...keeping, created } };
}

function both(one: CreatedObjects, other: CreatedObjects): CreatedObjects {
  return {
    words: [...one.words, ...other.words],
    read: (answer) => [...one.read(answer), ...other.read(answer)],
  };
}
