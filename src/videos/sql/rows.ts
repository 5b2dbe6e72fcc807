import { parseObject, type VideoOperation } from "../../core/index.ts";
import type { VideoState } from "../../providers/index.ts";
import type { CreatedVideo, SeenVideo, StoredVideo, VideoList } from "../store.ts";

/** Rows deleted at a time. */
const DELETED_MAX = 1_000;

/** A row of `videos` from either engine. */
export interface VideoRow {
  id: string;
  video_id: string | null;
  provider: string;
  key_id: string | null;
  owner: string;
  account_id: string;
  model: string;
  operation: string;
  source_id: string | null;
  webhook_url: string | null;
  requested: string;
  state: string;
  answer: string;
  credits: bigint | null;
  created_at: bigint;
  polled_at: bigint;
  kept_until: bigint;
}

export function toStoredVideo(row: VideoRow): StoredVideo {
  const { seconds, size } = parseObject(row.requested) ?? {};
  return {
    id: row.id,
    videoId: row.video_id ?? undefined,
    provider: row.provider,
    keyId: row.key_id ?? undefined,
    owner: row.owner,
    accountId: row.account_id,
    model: row.model,
    // Written by the store itself, like the state.
    operation: row.operation as VideoOperation,
    sourceId: row.source_id ?? undefined,
    webhookUrl: row.webhook_url ?? undefined,
    requested: {
      seconds: typeof seconds === "number" ? seconds : undefined,
      size: typeof size === "string" ? size : undefined,
    },
    state: parseObject(row.state) as unknown as VideoState,
    answer: parseObject(row.answer) ?? {},
    credits: row.credits ?? undefined,
    createdAt: Number(row.created_at),
    polledAt: Number(row.polled_at),
    keptUntil: Number(row.kept_until),
  };
}

type Value = string | number | bigint | null;

/** What an upstream has used is in the ledger. */
function stateText({ observed: _observed, ...state }: VideoState): string {
  return JSON.stringify(state);
}

/** The parameters of the statements, in their order. */
export const parametersOf = {
  insert: (video: StoredVideo): Value[] => [
    video.id,
    video.videoId ?? null,
    video.provider,
    video.keyId ?? null,
    video.owner,
    video.accountId,
    video.model,
    video.operation,
    video.sourceId ?? null,
    video.webhookUrl ?? null,
    JSON.stringify(video.requested),
    stateText(video.state),
    JSON.stringify(video.answer),
    video.credits ?? null,
    video.createdAt,
    video.polledAt,
    video.keptUntil,
  ],
  created: (id: string, created: CreatedVideo): Value[] => [
    id,
    created.videoId ?? null,
    created.keyId ?? null,
    stateText(created.state),
    JSON.stringify(created.answer),
    created.polledAt,
  ],
  seen: (id: string, seen: SeenVideo): Value[] => [
    id,
    stateText(seen.state),
    JSON.stringify(seen.answer),
    seen.credits ?? null,
    seen.polledAt,
    seen.keptUntil,
  ],
  list: ({ owner, provider, isAscending, after, limit }: VideoList): Value[] => [
    provider,
    owner ?? null,
    after?.createdAt ?? (isAscending ? -1 : Number.MAX_SAFE_INTEGER),
    after?.id ?? "",
    limit,
  ],
};

const COLUMNS = `id, video_id, provider, key_id, owner, account_id, model, operation, source_id, webhook_url, requested,
  state, answer, credits, created_at, polled_at, kept_until`;
const COLUMN_COUNT = 17;

/** The statements, which are equal for both engines except for the names of their parameters. */
export function statementsWith(parameter: (index: number) => string) {
  const [p1, p2, p3, p4, p5, p6] = [1, 2, 3, 4, 5, 6].map(parameter);
  const all = Array.from({ length: COLUMN_COUNT }, (_, index) => parameter(index + 1)).join(", ");
  const listed = (comparison: string, direction: string): string => `SELECT ${COLUMNS} FROM videos
    WHERE provider = ${p1} AND video_id IS NOT NULL AND (CAST(${p2} AS text) IS NULL OR owner = ${p2})
      AND (created_at ${comparison} ${p3} OR created_at = ${p3} AND id ${comparison} ${p4})
    ORDER BY created_at ${direction}, id ${direction} LIMIT ${p5}`;
  return {
    insert: `INSERT INTO videos (${COLUMNS}) VALUES (${all}) ON CONFLICT DO NOTHING`,
    find: `SELECT ${COLUMNS} FROM videos WHERE id = ${p1}`,
    findByVideoId: `SELECT ${COLUMNS} FROM videos WHERE video_id = ${p1} ORDER BY created_at DESC`,
    created: `UPDATE videos SET video_id = ${p2}, key_id = ${p3}, state = ${p4}, answer = ${p5}, polled_at = ${p6}
      WHERE id = ${p1} AND NOT EXISTS (
        SELECT 1 FROM videos other WHERE other.video_id = ${p2} AND other.provider = videos.provider)
      RETURNING id`,
    seen: `UPDATE videos SET state = ${p2}, answer = ${p3}, credits = coalesce(${p4}, credits), polled_at = ${p5},
        kept_until = ${p6} WHERE id = ${p1}`,
    ascending: listed(">", "ASC"),
    descending: listed("<", "DESC"),
    remove: `DELETE FROM videos WHERE id = ${p1}`,
    deleteExpired: `DELETE FROM videos WHERE id IN (
      SELECT id FROM videos WHERE kept_until < ${p1} ORDER BY kept_until LIMIT ${DELETED_MAX})`,
  };
}
