/** What all accounts have. */
interface Account {
  id: string;
  name: string | null;
  spend: number;
  held: number;
  models: string[] | null;
  tools: string[] | null;
  rpm: number | null;
  tpm: number | null;
  concurrency: number | null;
  max_budget: number | null;
  period: string | null;
  expires_at: string | null;
  created_at: string;
}

export type AccountKind = "users" | "projects" | "organisations";

/** Of `GET /admin/v1/organisations`, `users` and `projects`. */
export interface NamedAccount extends Account {
  name: string;
  disabled: boolean;
  balance: number | null;
  role?: string;
  organisation?: string | null;
  members?: string[];
  prepaid: boolean;
  /** Of organisations alone. */
  markup?: number | null;
  token_policy?: TokenPolicy | null;
  tags?: string[];
}

/** Bounds of the tokens that members of an organisation make. */
export interface TokenPolicy {
  max_tokens?: number | null;
  /** Seconds. */
  max_expires?: number | null;
  max_budget?: number | null;
}

/** Of `GET /admin/v1/tokens`. */
export interface Token extends Account {
  user: string | null;
  project: string | null;
  role: string | null;
  /** The values of its calls' tags, by their keys. */
  metadata: Readonly<Record<string, string>> | null;
  paused: boolean;
  revoked_at: string | null;
}

/** The answer that has a secret, once. */
export interface TokenWithSecret extends Token {
  token: string | null;
}

/** Of `GET /admin/v1/budgets`. One of the owners is set. */
export interface Budget {
  id: string;
  organisation: string | null;
  user: string | null;
  project: string | null;
  token: string | null;
  /** A model group; null for all models. */
  models: string | null;
  max_budget: number;
  period: string | null;
  start: number | null;
  raise: { by: number; until: string } | null;
  spend: number;
  period_reset_at: string | null;
}

/** Of `PUT /admin/v1/people`, also of its dry run. */
export interface PeopleDifference {
  created: string[];
  changed: { name: string; before: Record<string, unknown>; after: Record<string, unknown> }[];
  moved: { name: string; from: string | null; to: string | null }[];
  unchanged: string[];
  tokens: { name: string; token_id: string | null; token: string | null }[];
}
