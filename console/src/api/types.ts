/** The parts of the API's answers that the console reads. Amounts are credits. */

export type Role = "owner" | "operator" | "billing" | "auditor" | "organisation_admin" | "member";

/** `GET /admin/v1/session` */
export interface Session {
  user: string;
  role: Role;
  /** The sign-in by OpenID Connect with which it began; null of a token or a code. */
  issuer: string | null;
  expires_at: string;
}

/** The sums of some calls. */
export interface Sums {
  requests: number;
  failures: number;
  input_tokens: number;
  output_tokens: number;
  credits: number;
  list_credits: number;
  /** With `include=first_token_ms`. */
  first_token_ms?: FirstTokens;
}

/** Bounds of times in milliseconds, null above the last one, and the calls that had a first token. */
export interface FirstTokens {
  p50: number | null;
  p95: number | null;
  p99: number | null;
  count: number;
}

/** The names of the groups of `GET /admin/v1/usage` and `GET /v1/usage`, which has fewer. */
export type Dimension =
  | "day"
  | "organisation"
  | "project"
  | "user"
  | "token"
  | "provider"
  | "model"
  | "operation"
  | "session"
  | "end_user";

/** The name of a tag in queries and in sums of calls: `tag:` and its key. */
export type TagName = `tag:${string}`;

export type UsageGroup = Sums & {
  [tag: TagName]: string | null;
  day?: string;
  organisation?: string | null;
  project?: string | null;
  user?: string | null;
  token_id?: string;
  provider?: string;
  model?: string;
  operation?: string;
  session?: string | null;
  end_user?: string | null;
};

export interface Usage {
  data: UsageGroup[];
  total: Sums;
  from: string;
  to: string;
}

export interface Attempt {
  number: number;
  provider: string;
  model: string;
  key: string;
  class: string | null;
  status: number | null;
  codes?: string[];
  upstream_request_id: string | null;
  started_at: string;
  milliseconds: number;
  unbilled: number | null;
}

export type Outcome = "complete" | "failed" | "interrupted" | "abandoned" | "expired";

/** A call that has ended: of `GET /v1/generations`, and with its owners of `GET /admin/v1/generations`. */
export interface Generation {
  id: string;
  parent_id: string | null;
  session: string | null;
  end_user?: string;
  tags?: Readonly<Record<string, string>>;
  client_request_id?: string;
  token_id: string;
  model: string;
  provider: string;
  dialect: "chat" | "messages" | "responses" | "gemini" | null;
  operation: string;
  streamed: boolean;
  status: number | null;
  outcome: Outcome;
  usage: Record<string, number>;
  service_tier?: string;
  inference_geo?: string;
  max_output_tokens?: number;
  estimated?: ("input" | "output")[];
  input_tokens: number;
  output_tokens: number;
  credits: number;
  list_credits: number | null;
  refunded_credits?: number;
  latency_ms: number;
  time_to_first_token_ms: number | null;
  created_at: string;
  route?: string;
  upstream_request_id?: string;
  attempts?: Attempt[];
  error_code?: string;
  user?: string | null;
  project?: string | null;
  organisation?: string | null;
}

/** A page of a list. */
export interface List<Item> {
  data: Item[];
  has_more: boolean;
  next_cursor?: string;
  scanned_from?: string | null;
}

export type Prices = Readonly<Record<string, unknown>>;

/** `GET /v1/models/{model_id}` */
export interface Model {
  id: string;
  context_length: number | null;
  operations: string[];
  pricing: Prices | null;
}

/** `GET /admin/v1/entries` */
export interface Entry {
  id: string;
  kind: "settle" | "release" | "expire" | "grant" | "refund";
  amount: number;
  held: number;
  shortfall: number;
  created_at: string;
}
/** The money of a level of `GET /v1/user/info`. */
interface Level {
  level: "token" | "user" | "project" | "organisation" | "budget";
  name: string;
  balance: number | null;
  max_budget: number | null;
  spend: number;
  held: number;
  available: number | null;
  period: "daily" | "weekly" | "monthly" | "quarterly" | null;
  period_reset_at: string | null;
}

/** `GET /v1/user/info` */
export interface UserInfo extends Partial<Omit<Level, "level" | "name">> {
  user: string;
  service_bypass: boolean;
  spend: number;
  held: number;
  levels?: Level[];
}

/** Rows of `GET /admin/v1/organisations` and `…/users`, as far as their money goes. */
export interface Account {
  id: string;
  name: string;
  disabled: boolean;
  prepaid: boolean;
  balance: number | null;
  spend: number;
  held: number;
  available: number | null;
  max_budget: number | null;
  period: string | null;
}
