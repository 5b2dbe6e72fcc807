import { column, firstOf, sql, type Statement, type Steps, tableOf, textsIn } from "../../storage/index.ts";
import type { Identity } from "../identity.ts";

const { text, integer, named, optional } = column;

export const identities = tableOf<Identity>({
  issuer: text,
  subject: text,
  user: named("user_id", text),
  tokenId: optional(text),
  createdAt: integer,
});

export function selectIdentity({ issuer, subject }: Pick<Identity, "issuer" | "subject">): Statement {
  return sql`SELECT ${identities.names} FROM identities WHERE issuer = ${issuer} AND subject = ${subject}`;
}

export function findIdentity(place: Pick<Identity, "issuer" | "subject">): Steps<Identity | undefined> {
  return firstOf(selectIdentity(place), identities.read);
}

/** The identities of users, in any order of those. */
export function selectIdentities(users: readonly string[]): Statement {
  return sql`SELECT ${identities.names} FROM identities WHERE user_id IN (${textsIn(users)})
    ORDER BY user_id, issuer, subject`;
}

/** Writes an identity in place of the one with its issuer and subject. */
export function putIdentity(identity: Identity): Statement {
  return sql`INSERT INTO identities (${identities.names}) VALUES (${identities.values(identity)})
    ON CONFLICT (issuer, subject) DO UPDATE SET user_id = excluded.user_id, token_id = excluded.token_id,
      created_at = excluded.created_at`;
}

export function deleteIdentity({ issuer, subject }: Pick<Identity, "issuer" | "subject">): Statement {
  return sql`DELETE FROM identities WHERE issuer = ${issuer} AND subject = ${subject}`;
}

/** Whether the token stands for callers with signed tokens. */
export function* isOfIdentity(tokenId: string): Steps<boolean> {
  return (yield sql`SELECT token_id FROM identities WHERE token_id = ${tokenId}`).length > 0;
}
