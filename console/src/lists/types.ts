/** The items of the lists of the gateway itself. */

/** `GET /admin/v1/jobs` */
export interface Job {
  id: string;
  kind: string;
  user_id: string | null;
  project_id: string | null;
  run_at: string;
  attempts: number;
  node: string | null;
  leased_until: string | null;
  created_at: string;
}

/** `GET /admin/v1/crawls` */
export interface Crawl {
  id: string;
  kind: "crawl" | "batch" | "extract";
  user_id: string | null;
  project_id: string | null;
  state: "scraping" | "completed" | "failed" | "cancelled";
  discovered: number;
  completed: number;
  failed: number;
  skipped: number;
  credits: number;
  created_at: string;
  ended_at: string | null;
}

/** `GET /admin/v1/batches` */
export interface Batch {
  id: string;
  user_id: string | null;
  project_id: string | null;
  endpoint: string;
  model: string | null;
  provider: string | null;
  status: string;
  lines: { total: number; succeeded: number; failed: number; cancelled: number; expired: number };
  created_at: string;
  ended_at: string | null;
}

/** `GET /admin/v1/realtime_sessions` */
export interface RealtimeSession {
  id: string;
  model: string;
  user: string | null;
  project: string | null;
  node: string;
  opened_at: string;
  ending: boolean;
}

/** `GET /admin/v1/alerts` */
export interface Alert {
  id: string;
  rule: string;
  state: "pending" | "open";
  account: string | null;
  period: string | null;
  threshold: number | null;
  value: number | string;
  node: string;
  since: string;
  opened_at: string | null;
}

type State = Readonly<Record<string, unknown>>;

/** `GET /admin/v1/audit` */
export interface AuditRow {
  number: number;
  at: string;
  actor: string;
  act: string;
  target: string;
  address: string | null;
  request_id: string | null;
  reason: string | null;
  before: State | null;
  after: State | null;
}

/** `GET /admin/v1/audit/verify` */
export interface AuditVerification {
  rows: number;
  ok: boolean;
  fault: string | null;
}

/** `GET /admin/v1/nodes` */
export interface Node {
  id: string;
  host: string;
  pid: number;
  version: string;
  started_at: string;
  seen_at: string;
}

/** `GET /admin/v1/config` */
export interface Configuration {
  config: State;
}

/** Of one node, `POST /admin/v1/config/reload` */
export interface Reload {
  node: string;
  ok: boolean;
  changed: string[];
  need_restart: string[];
  error: string | null;
}

/** `GET /admin/v1/providers` */
export interface Provider {
  id: string;
  aliases: string[];
  base_url: string;
  sandbox: boolean;
  state: "enabled" | "disabled" | "no key";
  keys: number;
  refused_keys: string[];
  /** What is left out by hand: the provider, or some of its models. */
  disabled: { target: string; until: string | null; reason: string | null; by: string }[];
  /** What is left out by itself, after failures. */
  left_out: { model: string; until: string }[];
}

/** `GET /admin/v1/routes` */
export interface ModelRoute {
  id: string;
  strategy?: string;
  tiers: { model: string; weight?: number }[][];
}

/** A target of `GET /admin/v1/routes/explain` */
export interface ExplainedTarget {
  tier: number;
  model: string;
  weight: number;
  on: string[];
  asked: boolean;
  why: string | null;
  message: string | null;
  until: string | null;
  cost: number | null;
  available: number | null;
}

/** `GET /admin/v1/routes/explain` */
export interface RouteExplanation {
  over_budget: string | null;
  available: number | null;
  refused: string | null;
  targets: ExplainedTarget[];
}

/** `GET /admin/v1/prices` */
export interface Price {
  id: string;
  prices: Readonly<Record<string, unknown>>;
  layer: string;
  source: string | null;
  made: string | null;
}

/** `GET /admin/v1/prices/unpriced` */
export interface UnpricedModel {
  id: string;
  provider: string;
}
