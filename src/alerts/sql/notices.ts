import { insertJob } from "../../jobs/index.ts";
import { column, inOneCommit, readerOf, runnerOf, sql, type Storage, tableOf } from "../../storage/index.ts";
import type { NotedNotice, Notice, NoticeStore, WatchedBudget } from "../own/store.ts";

const { text, integer, json, optional } = column;

const thresholds = json({ parse: (value): readonly number[] => (Array.isArray(value) ? value.map(Number) : []) });

const watched = tableOf<WatchedBudget>({ channelId: text, owner: text, url: text, thresholds, accountId: text });

const columns = {
  id: text,
  channelId: text,
  accountId: text,
  period: text,
  threshold: integer,
  value: integer,
  openedAt: integer,
};

const table = tableOf(columns);

/** With the columns of its channel. */
const noted = tableOf({ ...columns, owner: optional(text), url: optional(text) });

/** The unique index needs a value. */
const toRow = ({ period = "", ...rest }: Notice) => ({ ...rest, period });

function toNotice({ period, ...rest }: ReturnType<typeof noted.read>): NotedNotice {
  return { ...rest, period: period === "" ? undefined : period };
}

/** The place of the id behind `project:`, counted from 1. */
const PROJECT_ID_FROM = sql`9`;

/** The accounts of each channel's owner, a user or a project: its own, and those of its tokens. */
const OWN_ACCOUNTS = sql`SELECT c.id AS channel_id, c.owner, c.url, c.budget_id, c.thresholds, h.account_id
    FROM alert_channels c JOIN account_holders h ON h.kind = 'user' AND h.id = c.owner
    WHERE h.deleted_at IS NULL AND h.account_id IS NOT NULL
  UNION ALL SELECT c.id, c.owner, c.url, c.budget_id, c.thresholds, h.account_id
    FROM alert_channels c JOIN account_holders h ON h.kind = 'project' AND h.id = substr(c.owner, ${PROJECT_ID_FROM})
    WHERE c.owner LIKE 'project:%' AND h.deleted_at IS NULL AND h.account_id IS NOT NULL
  UNION ALL SELECT c.id, c.owner, c.url, c.budget_id, c.thresholds, t.account_id
    FROM alert_channels c JOIN tokens t ON t.user_name = c.owner WHERE t.revoked_at IS NULL`;

const SELECT_WATCHED = sql`WITH own AS (${OWN_ACCOUNTS})
  SELECT ${watched.names} FROM own WHERE budget_id IS NULL
  UNION ALL SELECT o.channel_id, o.owner, o.url, o.thresholds, 'budget:' || b.id
    FROM own o JOIN budgets b ON b.account_id = o.account_id
    WHERE b.deleted_at IS NULL AND (o.budget_id IS NULL OR o.budget_id = b.id)`;

export function openNoticeStore(storage: Storage): NoticeStore {
  const runner = runnerOf(storage);
  const reader = readerOf(storage);
  return {
    watched: () => reader.rows(SELECT_WATCHED, watched.read),
    notices: () =>
      reader.rows(
        sql`SELECT n.id, n.channel_id, n.account_id, n.period, n.threshold, n.value, n.opened_at, c.owner, c.url
          FROM alert_notices n LEFT JOIN alert_channels c ON c.id = n.channel_id ORDER BY n.id`,
        (row) => toNotice(noted.read(row)),
      ),
    hasChannel: (id) => runner.hasRows(sql`SELECT id FROM alert_channels WHERE id = ${id}`),
    settle: ({ opened, closed }) =>
      inOneCommit(storage, function* () {
        for (const { notice, message } of opened) {
          const rows = yield sql`INSERT INTO alert_notices (${table.names}) VALUES (${table.values(toRow(notice))})
            ON CONFLICT (channel_id, account_id, period, threshold) DO NOTHING RETURNING id`;
          if (rows.length > 0 && message !== undefined) yield insertJob(message);
        }
        for (const { notice, message } of closed) {
          const rows = yield sql`DELETE FROM alert_notices WHERE id = ${notice.id} RETURNING id`;
          if (rows.length > 0 && message !== undefined) yield insertJob(message);
        }
      }),
  };
}
