interface Owners {
  organisation: string | null;
  user: string | null;
  project: string | null;
  /** The id of a token. */
  token: string | null;
}

/** Of `GET /admin/v1/entries`. */
export interface BooksEntry extends Owners {
  id: string;
  kind: "settle" | "release" | "expire" | "grant" | "refund";
  debit_account: string;
  credit_account: string;
  amount: number;
  held: number;
  actor: string | null;
  reason: string | null;
  created_at: string;
}

/** Of `GET /admin/v1/holds`. */
export interface Hold extends Owners {
  id: string;
  amount: number;
  observed: number;
  operation: string;
  model: string;
  created_at: string;
}

/** The money of an organisation or a user, of `GET /admin/v1/organisations` and `GET /admin/v1/users`. */
export interface Payer {
  id: string;
  name: string;
  balance: number | null;
  held: number | null;
  available: number | null;
  spend: number;
  max_budget: number | null;
  period: string | null;
  organisation?: string | null;
}

/** Whose an entry or a hold is, in words. */
export function ownerOf({ project, user, organisation }: Owners): string {
  const own = project ?? user;
  if (own === null) return organisation ?? "";
  return organisation === null ? own : `${own} of ${organisation}`;
}
