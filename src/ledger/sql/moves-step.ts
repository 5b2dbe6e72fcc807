/**
 * The step since which an account may have left its token behind, which has another one after a move: `ledger_owner` finds the token by
 * the id in the account's, not by its present account. See `holderOfAccount`.
 */
export const MOVES = {
  postgres: `
  CREATE OR REPLACE FUNCTION ledger_owner(account text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT coalesce(
      (SELECT t.user_name FROM tokens t WHERE t.id = split_part(a.id, ':', 2) COLLATE "C" AND a.kind = 'token'),
      (SELECT u.name FROM unnest(a.chain) WITH ORDINALITY l (id, level)
        JOIN accounts u ON u.id = l.id AND u.kind = 'user' ORDER BY l.level LIMIT 1),
      a.name)
    FROM accounts a WHERE a.id = account COLLATE "C"
  $$;
  `,
};
