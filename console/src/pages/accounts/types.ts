/** What all accounts have. */
interface Account {
  id: string;
  name: string | null;
  spend: number;
  held: number;
  models: string[] | null;
  rpm: number | null;
  tpm: number | null;
  concurrency: number | null;
  max_budget: number | null;
  period: string | null;
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
}

/** Of `GET /admin/v1/tokens`. */
export interface Token extends Account {
  user: string | null;
  project: string | null;
  role: string | null;
  expires_at: string | null;
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
