/** A gateway for forbidden requests, and checks that must hold for any of them. */
import { expect } from "bun:test";
import { openLedgerStore } from "../../src/ledger/index.ts";
import { type Caller, chatPath, expectRefusal, type Refusal, type Rig, startRig, until } from "../kit/index.ts";

export interface Hardened {
  rig: Rig;
  caller: Caller;
  /** POSTs a body to /v1/chat/completions with a good token. */
  post(body: string | Uint8Array): Promise<{ answer: Response; body: string }>;
  /** Posts a body that must be refused before any upstream receives it; returns the message. */
  expectRefused(body: string | Uint8Array, expected: Refusal): Promise<string>;
  /** After each test: nothing is held, and the gateway answers. */
  expectUnharmed(): Promise<void>;
  /** After all of them: the books balance, and nothing failed within. */
  expectNoFailure(): Promise<void>;
}

/** `server`: further keys of that section of the config file. */
export async function startHardened(server: object = {}): Promise<Hardened> {
  const rig = await startRig({ config: { server: { body_limit: "16MiB", ...server } } });
  const caller = await rig.caller();

  const post: Hardened["post"] = async (body) => {
    const headers = { authorization: `Bearer ${caller.token}`, "content-type": "application/json" };
    const answer = await fetch(rig.gateway.url + chatPath, { method: "POST", headers, body: body as Bun.BodyInit });
    return { answer, body: await answer.text() };
  };

  return {
    rig,
    caller,
    post,
    async expectRefused(body, expected) {
      const before = rig.simulators.total();
      const { answer, body: text } = await post(body);
      const message = expectRefusal(answer, text, expected);
      expect(rig.simulators.total()).toBe(before);
      return message;
    },
    async expectUnharmed() {
      const ledger = openLedgerStore(rig.gateway.storage);
      await until("no hold is open", async () => (await ledger.openHolds()).length === 0);
      const health = await fetch(`${rig.gateway.url}/health`);
      expect([health.status, await health.json()]).toEqual([
        200,
        { status: "ok", version: expect.any(String) as string, sandbox: [] },
      ]);
    },
    async expectNoFailure() {
      await rig.expectBalancedBooks();
      const holds = await rig.gateway.cli("ledger", "holds", "--json");
      expect([holds.code, JSON.parse(holds.stdout)]).toEqual([0, []]);
      expect((await rig.gateway.cli("ledger", "audit")).code).toBe(0);
      const last = await fetch(`${rig.gateway.url}/v1/last`);
      await until("the log has been written", () =>
        rig.gateway.log().includes(last.headers.get("x-request-id") ?? "?"),
      );
      expect(rig.gateway.logLines().filter(({ level }) => Number(level) >= 40)).toEqual([]);
    },
  };
}

/** The members of a good body, as text. */
export const goodModel = '"model":"openai/gpt-4o-mini"';
export const goodMessages = '"messages":[{"role":"user","content":"hi"}]';
