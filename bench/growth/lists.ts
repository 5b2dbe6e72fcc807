/** The first page of every list of the admin API, on books with millions of entries. */
import { randomBytes } from "node:crypto";
import { createAccounts } from "../../src/app/accounts.ts";
import { createStorageApi } from "../../src/app/admin-api.ts";
import { adminRoutes } from "../../src/http/index.ts";
import type { Storage } from "../../src/storage/index.ts";
import { median } from "../report/median.ts";

export interface ListFigure {
  /** The path and query of the request. */
  title: string;
  /** The median time of an answer with 100 rows. */
  ms: number;
}

const ROUNDS = 7;

/** Reads the first page of each list, and of entries by whose they are. */
export async function measureLists(storage: Storage, busyUser: string): Promise<ListFigure[]> {
  const environment = { clock: Date.now, randomBytes: (size: number) => randomBytes(size) };
  const api = createStorageApi(storage, createAccounts(storage, environment, "bench"));
  const lists = adminRoutes
    .filter(({ method, path }) => method === "get" && !path.includes("{") && !path.endsWith("/exports"))
    .map(({ path }) => path);
  const filtered = [`entries?user=${busyUser}`, "entries?kind=grant", "entries?kind=expire", `holds?user=${busyUser}`];
  const figures: ListFigure[] = [];
  const asked = [...filtered, ...ofConsole(busyUser)].map((each) => `/admin/v1/${each}`);
  for (const path of [...lists, ...asked]) {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const began = performance.now();
      const answer = await api(new Request(`http://bench${path}`));
      await answer.text();
      times.push(performance.now() - began);
      if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
    }
    figures.push({ title: path, ms: median(times) });
  }
  return figures;
}

const DAY_MS = 86_400_000;

const dayBefore = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

/** The first queries of Spend, of thirty days and of a year, and of Requests with its filters. */
function ofConsole(busyUser: string): string[] {
  const [month, year] = [`from=${dayBefore(29)}`, `from=${dayBefore(364)}`];
  return [
    `usage?group_by=model&${month}`,
    `usage?group_by=day,model&${month}`,
    `usage?group_by=day,model&interval=month&${year}`,
    `usage?group_by=user,model&interval=month&${year}`,
    `generations?${month}`,
    `generations?user=${busyUser}&${month}`,
    `generations?status=failed&${month}`,
    `generations?model=openai/none&${month}`,
  ];
}
