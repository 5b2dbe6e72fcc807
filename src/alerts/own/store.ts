import type { NewJob } from "../../jobs/index.ts";

/** A budget that a channel is for. */
export interface WatchedBudget {
  channelId: string;
  /** Whose the channel is: a user's id, or `project:<id>`. */
  owner: string;
  url: string;
  thresholds: readonly number[];
  accountId: string;
}

/** A threshold that was crossed, and that its channel has a message of. */
export interface Notice {
  id: string;
  channelId: string;
  accountId: string;
  /** The first day of the budget's period; undefined for none. */
  period: string | undefined;
  /** Percent of the budget. */
  threshold: number;
  /** The percent that was spent when it was noted. */
  value: number;
  openedAt: number;
}

/** A notice with its channel, undefined members if that was deleted. */
export interface NotedNotice extends Notice {
  owner: string | undefined;
  url: string | undefined;
}

/** A notice that begins or is over, with its message. */
export interface NoticeChange {
  notice: Notice;
  /** Undefined if its channel is gone. */
  message: NewJob | undefined;
}

/** The storage of own alerts on either engine. */
export interface NoticeStore {
  /** The budgets of all channels. */
  watched(): Promise<WatchedBudget[]>;
  /** Those that are not over. */
  notices(): Promise<NotedNotice[]>;
  hasChannel(id: string): Promise<boolean>;
  /** Writes the changes with the jobs of their messages, in one commit. Changes that another process has made meanwhile are left out. */
  settle(changes: { opened: readonly NoticeChange[]; closed: readonly NoticeChange[] }): Promise<void>;
}
