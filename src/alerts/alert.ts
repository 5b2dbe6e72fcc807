import type { AlertRule } from "../config/index.ts";

/** Something that a rule has found. Two with the same key are one alert. */
export interface Crossing {
  rule: AlertRule;
  /** An account, a model, a provider, a target, a key or a node; undefined if it concerns the whole deployment. */
  account?: string | undefined;
  /** The first day of a budget's period. */
  period?: string | undefined;
  /** The bound that was crossed, in the unit of the rule. */
  threshold?: number | undefined;
  value: number | string;
  /** Set if it opens no alert, but keeps an open one from being over. */
  keepsOpen?: true;
}

/** A crossing that was noted. It is pending until it has lasted for as long as its rule asks for. */
export interface Alert extends Crossing {
  id: string;
  /** The process that noted it. */
  node: string;
  /** In milliseconds since the epoch. */
  since: number;
  openedAt: number | undefined;
  /** Since when the condition is gone; undefined while it lasts. */
  goneAt: number | undefined;
}

/** The key by which an alert that has not closed is unique. */
export const alertKey = ({ rule, account, period, threshold }: Omit<Crossing, "value">): string =>
  JSON.stringify([rule, account, period, threshold]);

export type AlertEvent = "opened" | "closed";
