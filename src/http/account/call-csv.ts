import { stringify } from "csv-stringify/sync";
import type { CallQuery, Generation, GenerationStore } from "../../generations/index.ts";
import type { answerOf } from "./generation.ts";

type CallAnswer = Omit<ReturnType<typeof answerOf>, "object"> & Partial<Record<Whose, string | null>>;

type Whose = "user" | "user_id" | "project" | "project_id" | "organisation" | "organisation_id";

const whose: readonly Whose[] = ["user", "user_id", "project", "project_id", "organisation", "organisation_id"];

/** The columns of one's own calls. */
const columns = [
  ...([
    "id",
    "created_at",
    "token_id",
    "model",
    "provider",
    "operation",
    "dialect",
    "streamed",
    "status",
    "outcome",
  ] as const),
  ...(["input_tokens", "output_tokens", "credits", "list_credits", "refunded_credits", "latency_ms"] as const),
  ...(["time_to_first_token_ms", "session", "end_user", "route", "parent_id"] as const),
  ...(["client_request_id", "upstream_request_id", "tags"] as const),
] as const satisfies readonly (keyof CallAnswer)[];

/** Spreadsheets and other readers do not all know exponents. Credits have nine decimal places. */
const decimalOf = (value: number): string => {
  const text = String(value);
  return text.includes("e") ? value.toFixed(9) : text;
};

export type CallsOf = (calls: readonly Generation[]) => Promise<CallAnswer[]>;

/**
 * All calls of a query as CSV, written while they are read: the memory that it takes does not depend on their number. A text that a
 * spreadsheet would take for a formula begins with an apostrophe.
 */
export async function callsAsCsv(
  generations: Pick<GenerationStore, "parts">,
  query: CallQuery,
  { show, isOfAll = false }: { show: CallsOf; isOfAll?: boolean },
): Promise<Response> {
  const names = isOfAll ? [...columns, ...whose] : columns;
  const parts = generations.parts(query)[Symbol.asyncIterator]();
  // A failure before the first row has a status of its own.
  let read = await parts.next();
  let isFirst = true;
  const body = new ReadableStream<string>({
    async pull(controller) {
      if (read.done === true) return controller.close();
      const rows = await show(read.value.calls);
      controller.enqueue(
        stringify(rows, {
          columns: [...names],
          header: isFirst,
          escape_formulas: true,
          cast: { boolean: String, number: decimalOf, object: (value) => JSON.stringify(value) },
        }),
      );
      isFirst = false;
      read = await parts.next();
    },
    cancel: async () => void (await parts.return?.()),
  });
  const headers = {
    "content-type": "text/csv; charset=utf-8",
    "content-disposition": 'attachment; filename="calls.csv"',
  };
  return new Response(body.pipeThrough(new TextEncoderStream()), { headers });
}
