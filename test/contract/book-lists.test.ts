/** Lists of entries and holds on either engine: their order, their pages, and who sees which. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type AccountsDependencies, createToken } from "../../src/accounts/index.ts";
import { AdminServer } from "../../src/http/admin/__fixtures__/admin-server.ts";
import { type Hold, openBookLists, openLedgerStore } from "../../src/ledger/index.ts";
import { type PostgresServer, startPostgres } from "../kit/postgres.ts";

const credit = 1_000_000_000n;

interface Listed {
  id: string;
  kind: string;
  user: string | null;
  actor: string | null;
  reason: string | null;
}

function describeLists(name: string, url: () => Promise<string>): void {
  describe(`book lists on ${name}`, () => {
    let server: AdminServer;
    let deps: AccountsDependencies;
    const tokens = new Map<string, { id: string; token: string }>();

    beforeEach(async () => {
      server = await AdminServer.open(await url());
      ({ deps } = server);
      for (const [user, role, organisation] of [
        ["owner", "owner", undefined],
        ["admin", "organisation_admin", "acme"],
        ["ann", "member", "acme"],
        ["stranger", "member", "beta"],
      ] as const)
        tokens.set(user, await createToken(deps, { user, role, organisation }));
      for (const organisation of ["acme", "beta"])
        await as("owner", "post /admin/v1/credits", { organisation, amount: 50, reason: `paid by ${organisation}` });
    });
    afterEach(() => server.close());

    const as = (user: string, route: string, body?: object) =>
      server.ask(tokens.get(user)?.token ?? "", route, body && { body });

    const commit = async (operation: Parameters<AccountsDependencies["accounts"]["commit"]>[0][number]) => {
      const [outcome] = await openLedgerStore(server.storage).commit([operation]);
      return outcome?.outcome;
    };

    async function hold(id: string, user: string): Promise<void> {
      const accountId = (await deps.tokens.findById(tokens.get(user)?.id ?? ""))?.accountId ?? "";
      server.now += 1_000;
      const operation: Hold = {
        kind: "hold",
        id,
        accountId,
        amount: 2n * credit,
        at: server.now,
        leaseUntil: server.now + 600_000,
        operation: "chat",
        provider: "openai",
        model: "m",
        dialect: "chat",
        streamed: false,
      };
      expect(await commit(operation)).toBe("held");
    }

    async function call(id: string, user: string): Promise<void> {
      await hold(id, user);
      await commit({ kind: "settle", id, amount: credit, at: server.now });
    }

    const listed = async (user: string, query = ""): Promise<string[]> =>
      ((await as(user, `get /admin/v1/entries?${query}`)).json["data"] as Listed[]).map((each) =>
        each.kind === "grant" ? "grant" : `${each.kind} ${each.id}`,
      );

    test("have whose each entry is, the latest first, and grants with their actor and reason", async () => {
      await call("req_1", "ann");
      await call("req_2", "stranger");
      await commit({ kind: "refund", id: "req_1", at: server.now + 1, actor: "cli:root", reason: "sorry" });
      expect(await listed("owner")).toEqual(["refund req_1:refund", "settle req_2", "settle req_1", "grant", "grant"]);
      const { json } = await as("owner", "get /admin/v1/entries");
      const [refund, , charge, , grant] = json["data"] as object[];
      expect(refund).toMatchObject({ reason: "sorry", actor: "cli:root", debit_account: "revenue", user: "ann" });
      expect(charge).toMatchObject({
        object: "entry",
        organisation: "acme",
        organisation_id: "acme",
        user: "ann",
        user_id: "ann",
        project: null,
        token: tokens.get("ann")?.id,
        credit_account: "revenue",
        amount: 1,
        held: 2,
        shortfall: 0,
        budgets: [],
      });
      expect(grant).toMatchObject({
        organisation: "acme",
        user: null,
        amount: 50,
        reason: "paid by acme",
        actor: `token:${tokens.get("owner")?.id}`,
        credit_account: "organisation:acme",
      });
      expect(json).toMatchObject({ object: "list", has_more: false, scanned_from: null });
      const { json: own } = await as("admin", "get /admin/v1/entries");
      const named = (own["data"] as Listed[]).flatMap(({ actor, reason }) => actor ?? reason ?? []);
      expect([(own["data"] as Listed[]).length, named]).toEqual([3, []]);
    });

    test("filter by owner and kind, within the caller's organisation", async () => {
      await call("req_1", "ann");
      await call("req_2", "stranger");
      await as("owner", "patch /admin/v1/users/ann", { organisation: "beta" });
      await call("req_3", "ann");
      expect(await listed("owner", "user=ann")).toEqual(["settle req_3", "settle req_1"]);
      expect(await listed("owner", `token=${tokens.get("ann")?.id}`)).toEqual(["settle req_3", "settle req_1"]);
      expect(await listed("owner", "organisation=beta")).toEqual(["settle req_3", "settle req_2", "grant"]);
      expect(await listed("owner", "kind=grant&organisation=beta")).toEqual(["grant"]);
      expect(await listed("owner", "kind=settle")).toEqual(["settle req_3", "settle req_2", "settle req_1"]);
      expect(await listed("owner", "kind=refund")).toEqual([]);
      // What a user who has left spent there is still the organisation's.
      expect(await listed("admin")).toEqual(["settle req_1", "grant"]);
      expect(await as("admin", "get /admin/v1/entries?user=ann")).toMatchObject({ status: 404 });
      expect(await as("admin", "get /admin/v1/entries?organisation=beta")).toMatchObject({ status: 404 });
      expect(await as("admin", "get /admin/v1/holds?user=stranger")).toMatchObject({ status: 404 });
      expect(await as("ann", "get /admin/v1/entries")).toMatchObject({ status: 403 });
      await as("owner", "patch /admin/v1/users/stranger", { organisation: "acme" });
      expect(await listed("admin", "user=stranger")).toEqual([]);
      expect(await as("owner", "get /admin/v1/entries?user=ann&organisation=acme")).toMatchObject({ status: 422 });
    });

    test("have all entries of a period, in parts", async () => {
      for (let number = 1; number <= 9; number += 1) await call(`req_${number}`, number % 3 === 0 ? "ann" : "stranger");
      const all = (await openBookLists(server.storage).entries({ limit: 100 })).entries;
      const times = all.map(({ createdAt }) => createdAt);
      const lists = openBookLists(server.storage, 4);
      for (const account of [undefined, "user:ann"])
        for (const from of [0, times[6] ?? 0, times[2] ?? 0])
          for (const to of [times[0] ?? 0, times[5] ?? 0, Number.MAX_SAFE_INTEGER]) {
            const parts = await Array.fromAsync(lists.parts({ account, from, to }));
            const { entries } = await openBookLists(server.storage).entries({ account, limit: 100 });
            const mine = new Set(entries.map(({ id }) => id));
            const wanted = all.filter(
              ({ id, createdAt }) => createdAt >= from && createdAt < to && (account === undefined || mine.has(id)),
            );
            expect(parts.flat()).toEqual(wanted);
          }
    });

    test("have the entries of a period that were committed days after it", async () => {
      const day = 86_400_000;
      const lateEnds = async (ids: readonly string[], at: number) => {
        for (const id of ids) await commit({ kind: "settle", id, amount: credit, at });
      };
      const late = Array.from({ length: 12 }, (_, number) => `req_late_${number}`);
      const first = server.now;
      for (const id of late) await hold(id, "ann");
      const ended = server.now;
      for (let number = 1; number <= 3; number += 1) await call(`req_a${number}`, "ann");
      server.now += 3 * day;
      // More than a part of them stands between those that are on time.
      await call("req_b1", "ann");
      await lateEnds(late.slice(0, 7), ended);
      await call("req_b2", "ann");
      server.now += 3 * day;
      await call("req_c1", "ann");
      await lateEnds(late.slice(7), ended);
      await call("req_c2", "ann");
      const idsOf = async (from: number, to: number) => {
        const parts = await Array.fromAsync(openBookLists(server.storage, 4).parts({ from, to }));
        return parts
          .flat()
          .map(({ id }) => id)
          .filter((id) => id.startsWith("req_"))
          .toSorted();
      };
      const near = ["req_a1", "req_a2", "req_a3"];
      expect(await idsOf(first, first + day)).toEqual([...near, ...late].toSorted());
      expect(await idsOf(first + day, first + 4 * day)).toEqual(["req_b1", "req_b2"]);
      expect(await idsOf(first + 4 * day, first + 9 * day)).toEqual(["req_c1", "req_c2"]);
      expect(await idsOf(0, first + 9 * day)).toEqual(
        [...near, "req_b1", "req_b2", "req_c1", "req_c2", ...late].toSorted(),
      );
    });

    test("come in pages that read so many entries at most", async () => {
      for (let number = 1; number <= 7; number += 1) await call(`req_${number}`, number === 2 ? "ann" : "stranger");
      const all = await listed("owner");
      const paged: string[] = [];
      for (let after = ""; ;) {
        const { json } = await as("owner", `get /admin/v1/entries?limit=2${after}`);
        paged.push(...(json["data"] as Listed[]).map(({ id, kind }) => (kind === "grant" ? "grant" : `${kind} ${id}`)));
        if (json["has_more"] !== true) break;
        after = `&after=${String(json["scanned_from"])}`;
      }
      expect(paged).toEqual(all);
      const lists = openBookLists(server.storage, 3);
      const pages: string[][] = [];
      for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
        const page = await lists.entries({ account: "user:ann", limit: 5, after });
        pages.push(page.entries.map(({ id }) => id));
        after = page.scannedFrom;
      }
      expect(pages).toEqual([[], ["req_2"], [], []]);
      expect((await as("owner", "get /admin/v1/entries?after=nothing")).json).toMatchObject({
        data: [],
        has_more: false,
      });
    });

    test("show open holds by id", async () => {
      for (const id of ["req_1", "req_2", "req_3"]) await hold(id, id === "req_2" ? "stranger" : "ann");
      const ids = async (user: string, query = "") =>
        ((await as(user, `get /admin/v1/holds?${query}`)).json["data"] as Listed[]).map(({ id }) => id);
      expect(await ids("owner")).toEqual(["req_1", "req_2", "req_3"]);
      expect(await ids("owner", "limit=1&after=req_1")).toEqual(["req_2"]);
      expect(await ids("owner", "organisation=acme")).toEqual(["req_1", "req_3"]);
      expect(await ids("admin")).toEqual(["req_1", "req_3"]);
      const { json } = await as("admin", "get /admin/v1/holds?limit=1");
      expect(json).toMatchObject({
        has_more: true,
        data: [
          {
            object: "hold",
            organisation: "acme",
            user: "ann",
            amount: 2,
            observed: null,
            operation: "chat",
            model: "openai/m",
            keeper: "process",
          },
        ],
      });
    });
  });
}

describeLists("SQLite", async () => "sqlite::memory:");

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());
describeLists("Postgres", () => postgres.createDatabase());
