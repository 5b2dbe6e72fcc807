/** The stored records of providers: callers lose them if a configuration no longer has those. */
import { column, runnerOf, sql, type Storage, tableOf, textsIn } from "../../storage/index.ts";

const { text, integer } = column;

const needs = tableOf({ provider: text, what: text, count: integer });

/** Lines such as "stored answers of openai: 3", for those of the providers that have something which has not expired at `at`. */
export async function neededProviders(storage: Storage, prefixes: readonly string[], at: number): Promise<string[]> {
  const providers = textsIn(prefixes);
  const found = await runnerOf(storage).rows(
    sql`SELECT provider, 'stored answers' AS what, count(*) AS count FROM responses
        WHERE provider IN (${providers}) AND kept_until > ${at} GROUP BY provider
      UNION ALL SELECT provider, 'responses in the background', count(*) FROM background_responses
        WHERE provider IN (${providers}) AND ended_at IS NULL GROUP BY provider
      UNION ALL SELECT provider, 'videos', count(*) FROM videos
        WHERE provider IN (${providers}) AND kept_until > ${at} GROUP BY provider
      UNION ALL SELECT provider, 'stored objects', count(*) FROM stored_objects
        WHERE provider IN (${providers}) AND kept_until > ${at} GROUP BY provider`,
    needs.read,
  );
  return found.map(({ provider, what, count }) => `${what} of ${provider}: ${count}`);
}
