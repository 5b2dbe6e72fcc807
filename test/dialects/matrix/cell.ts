import { expect } from "bun:test";
import type { RecordedRequest } from "../../../simulators/index.ts";
import type { Dialect } from "../../../src/core/index.ts";
import { type Rig, until } from "../../kit/index.ts";
import { chatDriver } from "./chat-driver.ts";
import { answerAgain, askedAgain, countsIn } from "./counts.ts";
import type { Access, Ask, Driver, ClientResult } from "./driver.ts";
import { geminiDriver } from "./gemini-driver.ts";
import { messagesDriver } from "./messages-driver.ts";
import { responsesDriver } from "./responses-driver.ts";
import { type Exception, exceptionsOf, spoken, type Instead, type Scenario, type Upstream } from "./table.ts";

export const drivers: Readonly<Record<Dialect, (access: Access) => Driver>> = {
  chat: chatDriver,
  messages: messagesDriver,
  responses: responsesDriver,
  gemini: geminiDriver,
};

/** The dialect of a path, by its end. */
const paths: Readonly<Record<Dialect, RegExp>> = {
  chat: /\/chat\/completions$/,
  messages: /\/v1\/messages$/,
  responses: /\/responses$/,
  gemini: /:(?:streamG|g)enerateContent(?:\?alt=sse)?$/,
};

/** `GET /v1/generations/{id}`, as far as the matrix reads it. */
interface Generation {
  outcome: string;
  status: number;
  dialect: string;
  input_tokens: number;
  output_tokens: number;
  credits: number;
}

export interface CellParts {
  rig: Rig;
  /** Of the caller, whom all cells may share. */
  token: string;
  scenario: Scenario;
  client: Dialect;
  upstream: Upstream;
}

/** One cell of the matrix: a client, a provider, and the provider's received requests. */
export class Cell {
  readonly client: Dialect;
  readonly upstream: Upstream;
  /** The dialect in which the provider is asked. */
  readonly spoken: Dialect;
  readonly driver: Driver;
  readonly model: string;
  readonly exceptions: readonly Exception[];
  /** Stands in the user's message, and so in each of the cell's requests. */
  readonly mark: string;
  readonly #rig: Rig;
  readonly #token: string;

  constructor({ rig, token, scenario, client, upstream }: CellParts) {
    this.client = client;
    this.upstream = upstream;
    this.spoken = spoken(upstream, client, scenario);
    this.#rig = rig;
    this.#token = token;
    this.driver = drivers[client]({ url: rig.gateway.url, token });
    this.model = upstream.models?.[scenario] ?? upstream.model;
    this.exceptions = exceptionsOf(scenario, client, upstream);
    this.mark = `(${client} ${upstream.model} ${scenario})`;
  }

  /** Whether the table excepts the cell in this way. */
  gives(instead: Instead): boolean {
    return this.exceptions.some((one) => one.instead === instead);
  }

  /** Asks, with the cell's mark. */
  ask(ask: Omit<Ask, "model">, fault = ""): Promise<ClientResult> {
    return this.driver.ask({ ...ask, model: this.model + fault, text: `${ask.text} ${this.mark}` });
  }

  /** The provider's requests, oldest first, each in the dialect of the table. */
  received(): RecordedRequest[] {
    const all = this.#rig.simulators.requests();
    const mine = all.filter(({ body, headers }) => body.includes(this.mark) && headers[askedAgain] === undefined);
    for (const { path } of mine) expect(path).toMatch(paths[this.spoken]);
    return mine;
  }

  /** The provider's answer to the call that came as the cell's `index`-th. */
  async answerOf(index: number): Promise<string> {
    const request = this.received()[index];
    if (request === undefined) throw new Error(`the provider has not had call ${index}`);
    return answerAgain(this.#rig.simulators, request);
  }

  /** Fails unless client, provider and ledger count the same, and something. */
  async expectCounted(told: ClientResult, index = 0): Promise<void> {
    const counted = countsIn(await this.answerOf(index));
    expect(counted.input).toBeGreaterThan(0);
    expect(counted.output).toBeGreaterThan(0);
    expect(told.usage).toEqual(counted);
    const charged = await this.generation(index);
    expect(charged).toMatchObject({ outcome: "complete", status: 200, dialect: this.client });
    expect({ input: charged.input_tokens, output: charged.output_tokens }).toEqual(counted);
    expect(charged.credits).toBeGreaterThan(0);
  }

  /** The ledger's record of the cell's `index`-th call, once it has ended. */
  async generation(index: number): Promise<Generation> {
    const id = this.driver.requestIds[index] ?? "none";
    return until(`the charge of ${id}`, async () => {
      const answer = await fetch(`${this.#rig.gateway.url}/v1/generations/${id}`, {
        headers: { authorization: `Bearer ${this.#token}` },
      });
      return answer.ok && ((await answer.json()) as Generation);
    });
  }

  /** The SDK's exception for a call. */
  async failureOf(call: Promise<unknown>): Promise<Error & { status?: number }> {
    const thrown: unknown = await call.then(
      (told) => `nothing was thrown, but this was told: ${JSON.stringify(told)}`,
      (reason: unknown) => reason,
    );
    if (thrown instanceof Error) return thrown;
    // OpenAI's helper for Responses throws the error event itself.
    if (isErrorEvent(thrown)) return new Error(thrown.message);
    throw new Error(String(thrown));
  }
}

function isErrorEvent(thrown: unknown): thrown is { message: string } {
  return typeof thrown === "object" && thrown !== null && "type" in thrown && thrown.type === "error";
}
