/** What all accounts have. */
interface Account {
  id: string;
  name: string | null;
  spend: number;
  held: number;
  max_budget: number | null;
  period: string | null;
  created_at: string;
}

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
  models: string[] | null;
  expires_at: string | null;
  paused: boolean;
  revoked_at: string | null;
}

/** The answer that has a secret, once. */
export interface TokenWithSecret extends Token {
  token: string | null;
}
