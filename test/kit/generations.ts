import type { Generation } from "../../src/generations/index.ts";
import type { Storage } from "../../src/storage/index.ts";

const columns = [
  "id",
  "owner",
  "account_id",
  "operation",
  "dialect",
  "provider",
  "model",
  "streamed",
  "status",
  "outcome",
  "usage",
  "input_tokens",
  "output_tokens",
  "credits",
  "ms",
  "first_byte_ms",
  "started_at",
];

/** Writes the row of an ended call, as the end of its hold does; on SQLite with the entry that names it. */
export async function insertGeneration(storage: Storage, generation: Generation): Promise<void> {
  const values = [
    generation.id,
    generation.owner,
    `token:${generation.tokenId}`,
    generation.operation,
    generation.dialect ?? null,
    generation.provider,
    generation.model,
    storage.engine === "sqlite" ? Number(generation.streamed) : generation.streamed,
    generation.status ?? 0,
    generation.outcome,
    JSON.stringify(generation.usage),
    generation.inputTokens,
    generation.outputTokens,
    generation.credits,
    generation.milliseconds,
    generation.millisecondsToFirstByte ?? null,
    generation.startedAt,
  ];
  const places = values.map((_, index) => (storage.engine === "sqlite" ? "?" : `$${index + 1}`));
  const statement = `INSERT INTO generations (${columns.join(", ")}) VALUES (${places.join(", ")})`;
  if (storage.engine === "postgres") {
    await storage.statements.run(statement, values);
    return;
  }
  const { lastInsertRowid } = storage.handle.query(statement).run(...values);
  storage.handle
    .query("INSERT INTO entries VALUES (?, 'settle', ?, 'revenue', 0, 0, 0, ?, ?)")
    .run(generation.id, `token:${generation.tokenId}`, generation.startedAt, lastInsertRowid);
}
