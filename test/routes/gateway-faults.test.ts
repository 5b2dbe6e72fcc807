/**
 * The class `gateway` of the table of failures: the gateway's own end, in three dialects, whole and streamed, before and after the first
 * content, with one target and with two. Nothing else is asked, and only the content that has passed is charged.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { auditOf, type Gateway, query, startGateway, until } from "../kit/index.ts";
import { type Dialect, type FailingUpstream, paths, requestIn, startFailingUpstream } from "./failing-upstream.ts";

const dialects = ["chat", "messages", "responses"] as const;
const first: Readonly<Record<Dialect, string>> = { chat: "one", messages: "ant-one", responses: "one" };
const second: Readonly<Record<Dialect, string>> = { chat: "two", messages: "ant-two", responses: "two" };

interface Row {
  dialect: Dialect;
  stream: boolean;
  /** How far the answer has come: the name of the model. */
  until: "silent" | "head-silence" | "content-silence";
  targets: 1 | 2;
}

const rows: Row[] = dialects.flatMap((dialect) =>
  ([1, 2] as const).flatMap((targets) => [
    { dialect, stream: false, until: "silent", targets } as const,
    { dialect, stream: true, until: "silent", targets } as const,
    { dialect, stream: true, until: "head-silence", targets } as const,
    { dialect, stream: true, until: "content-silence", targets } as const,
  ]),
);

interface Ended {
  status: number;
  text: string;
  id: string;
}

let upstream: FailingUpstream;
let gateway: Gateway;
let lines: Record<string, unknown>[];
const ended = new Map<Row, Promise<Ended>>();

/** All calls are under way when the gateway is stopped. */
beforeAll(async () => {
  upstream = await startFailingUpstream();
  const openai = { kind: "openai", base_url: upstream.url, api_key: "k" };
  const anthropic = { kind: "anthropic", base_url: upstream.url, api_key: "k" };
  const routes = dialects.flatMap((dialect) =>
    (["silent", "head-silence", "content-silence"] as const).map((name) => [
      `${dialect}-${name}`,
      { tiers: [[{ model: `${first[dialect]}/${name}` }, { model: `${second[dialect]}/good` }]] },
    ]),
  );
  gateway = await startGateway({
    providers: { one: openai, two: openai, "ant-one": anthropic, "ant-two": anthropic },
    config: {
      server: { drain: "1s" },
      pricing: { models: { "*": { input_mtok: 1, output_mtok: 2 } } },
      routing: {
        circuits: false,
        attempt_timeout: "60s",
        whole_timeout: "60s",
        routes: Object.fromEntries(routes) as object,
      },
    },
  });
  const token = await gateway.token({ user: "caller" });
  const begun: Promise<void>[] = [];
  for (const row of rows) {
    const { dialect, stream, until: name, targets } = row;
    const model = targets === 1 ? `${first[dialect]}/${name}` : `${dialect}-${name}`;
    const { promise, resolve } = Promise.withResolvers<void>();
    ended.set(row, call(token, row, model, resolve));
    if (stream && name === "content-silence") begun.push(promise);
  }
  await until("all are asked", () => upstream.asked.length === rows.length);
  await Promise.all(begun);
  await gateway.stop({ keepFolder: true });
  await Promise.all(ended.values());
  lines = gateway.logLines();
  gateway = await startGateway({ providers: { one: openai }, folder: gateway.folder, storage: gateway.storageUrl });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

interface BodyReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
}

async function call(token: string, { dialect, stream }: Row, model: string, onContent: () => void): Promise<Ended> {
  const answer = await fetch(gateway.url + paths[dialect], {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(requestIn(dialect, model, stream)),
  });
  let text = "";
  const decoder = new TextDecoder();
  if (answer.body === null) throw new Error("no body");
  const reader: BodyReader = answer.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
    if (text.includes("Hello")) onContent();
  }
  const id = answer.headers.get("x-request-id") ?? answer.headers.get("request-id") ?? "";
  return { status: answer.status, text, id };
}

describe("the gateway ends", () => {
  test.each(rows.map((row) => [JSON.stringify(Object.values(row)), row] as const))("%s", async (_, row) => {
    const { status, text, id } = (await ended.get(row)) ?? { status: 0, text: "", id: "" };
    const hasPassed = row.until === "content-silence";
    // A stream with one target has sent its head.
    const hasHead = hasPassed || (row.until === "head-silence" && row.targets === 1);
    expect([status, text.includes("Hello")]).toEqual([hasHead ? 200 : 503, hasPassed]);
    expect(text).toContain("error");
    const [record] = await query<{ provider: string; outcome: string; credits: number | bigint }>(
      gateway.storage,
      `SELECT provider, outcome, credits FROM generations WHERE id = '${id}'`,
    );
    expect(record).toMatchObject({ provider: first[row.dialect], outcome: "interrupted" });
    expect(Number(record?.credits) > 0).toBe(hasPassed);
  });

  test("no second target was asked, the log names the class, and the books balance", async () => {
    expect(upstream.asked).not.toContain("good");
    expect(lines.filter(({ msg }) => msg === "call").map((line) => line["class"])).toEqual(rows.map(() => "gateway"));
    expect(await auditOf(gateway)).toMatchObject({ openHolds: 0, shortfall: 0n, drifts: [] });
  });
});
