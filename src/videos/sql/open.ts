import { z } from "zod";
import { objectOf } from "../../core/index.ts";
import type { VideoState } from "../../providers/index.ts";
import { column, runnerOf, sql, type SqlRunner, type Storage, tableOf, textsIn } from "../../storage/index.ts";
import type { CreatedVideo, MovedVideo, SeenVideo, StoredVideo, VideoList, VideoStore } from "../store.ts";

/** Rows deleted at a time. */
const DELETED_MAX = 1_000;

const { text, integer, bigInteger, json, oneOf, optional } = column;

const seconds = z.number().optional();
const size = z.string().optional();

/** Without the observed usage, which is in the ledger. */
const state = json<VideoState>(
  z.object({
    status: z.enum(["queued", "in_progress", "completed", "failed"]),
    progress: z.number().optional(),
    urls: z.array(z.string()),
    error: z.object({ code: z.string(), message: z.string() }).optional(),
    seconds,
    size,
    createdAt: z.number().optional(),
    completedAt: z.number().optional(),
    expiresAt: z.number().optional(),
    fileId: z.string().optional(),
  }),
);
const answer = json({ parse: (value) => objectOf(value) ?? {} });
const writeState = ({ observed: _observed, ...rest }: VideoState): string => JSON.stringify(rest);

const videos = tableOf<StoredVideo>({
  id: text,
  videoId: optional(text),
  provider: text,
  keyId: optional(text),
  owner: text,
  accountId: text,
  model: text,
  operation: oneOf({ video_generation: true, video_edit: true, video_extension: true }),
  sourceId: optional(text),
  webhookUrl: optional(text),
  requested: json(z.object({ seconds, size }).transform((value) => ({ seconds: value.seconds, size: value.size }))),
  state: { ...state, write: writeState },
  answer,
  credits: optional(bigInteger),
  createdAt: integer,
  polledAt: integer,
  keptUntil: integer,
});

class SqlVideoStore implements VideoStore {
  readonly #sql: SqlRunner;

  constructor(runner: SqlRunner) {
    this.#sql = runner;
  }

  insert(video: StoredVideo): Promise<void> {
    return this.#sql.run(
      sql`INSERT INTO videos (${videos.names}) VALUES (${videos.values(video)}) ON CONFLICT DO NOTHING`,
    );
  }

  find(id: string): Promise<StoredVideo | undefined> {
    return this.#sql.first(sql`SELECT ${videos.names} FROM videos WHERE id = ${id}`, videos.read);
  }

  findByVideoId(videoId: string): Promise<StoredVideo[]> {
    return this.#sql.rows(
      sql`SELECT ${videos.names} FROM videos WHERE video_id = ${videoId} ORDER BY created_at DESC`,
      videos.read,
    );
  }

  moved(id: string, { provider, model, requested, keptUntil }: MovedVideo): Promise<void> {
    return this.#sql.run(sql`UPDATE videos SET provider = ${provider}, model = ${model},
      requested = ${JSON.stringify(requested)}, kept_until = ${keptUntil} WHERE id = ${id}`);
  }

  created(id: string, { videoId, keyId, ...seen }: CreatedVideo): Promise<boolean> {
    return this.#sql.hasRows(sql`UPDATE videos SET video_id = ${videoId}, key_id = ${keyId},
        state = ${writeState(seen.state)}, answer = ${answer.write(seen.answer)}, polled_at = ${seen.polledAt}
      WHERE id = ${id} AND NOT EXISTS (
        SELECT 1 FROM videos other WHERE other.video_id = ${videoId} AND other.provider = videos.provider)
      RETURNING id`);
  }

  seen(id: string, seen: SeenVideo): Promise<void> {
    return this.#sql.run(sql`UPDATE videos SET state = ${writeState(seen.state)}, answer = ${answer.write(seen.answer)},
      credits = coalesce(${seen.credits}, credits), polled_at = ${seen.polledAt}, kept_until = ${seen.keptUntil}
      WHERE id = ${id}`);
  }

  list({ owner, provider, isAscending, after, limit }: VideoList): Promise<StoredVideo[]> {
    const listed = sql`SELECT ${videos.names} FROM videos
      WHERE provider = ${provider} AND video_id IS NOT NULL AND (CAST(${owner} AS text) IS NULL OR owner = ${owner})`;
    const { createdAt, id } = after ?? { createdAt: isAscending ? -1 : Number.MAX_SAFE_INTEGER, id: "" };
    const page = isAscending
      ? sql`${listed} AND (created_at, id) > (${createdAt}, ${id}) ORDER BY created_at, id LIMIT ${limit}`
      : sql`${listed} AND (created_at, id) < (${createdAt}, ${id}) ORDER BY created_at DESC, id DESC LIMIT ${limit}`;
    return this.#sql.rows(page, videos.read);
  }

  listNamed(
    { owner, provider }: Pick<VideoList, "owner" | "provider">,
    videoIds: readonly string[],
  ): Promise<StoredVideo[]> {
    return this.#sql.rows(
      sql`SELECT ${videos.names} FROM videos WHERE video_id IN (${textsIn(videoIds)}) AND provider = ${provider}
        AND (CAST(${owner} AS text) IS NULL OR owner = ${owner}) ORDER BY created_at DESC, id DESC`,
      videos.read,
    );
  }

  remove(id: string): Promise<void> {
    return this.#sql.run(sql`DELETE FROM videos WHERE id = ${id}`);
  }

  deleteExpired(at: number): Promise<void> {
    return this.#sql.run(sql`DELETE FROM videos WHERE id IN (
      SELECT id FROM videos WHERE kept_until < ${at} ORDER BY kept_until LIMIT ${DELETED_MAX})`);
  }
}

export function openVideoStore(storage: Storage): VideoStore {
  return new SqlVideoStore(runnerOf(storage));
}
