/** Responses in the background, with OpenAI's own SDK: polled, cancelled, streamed and resumed, with every provider. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import {
  type Caller,
  chatModels,
  engines,
  generationOf,
  newClient,
  responsesPath,
  type Rig,
  sharedPostgres,
  startRig,
  storageOn,
  type Talker,
  talker,
  until,
} from "../kit/index.ts";

type Response = OpenAI.Responses.Response;
type StreamEvent = OpenAI.Responses.ResponseStreamEvent;

const postgres = sharedPostgres();
const models = Object.values(chatModels);
const native = "openai/gpt-5-mini";
/** Ran by the gateway: translated, and with an upstream that stores them. */
const foreign = "deepseek/deepseek-chat";
const stored = "xai/grok-4.3";

/** An answer of many events, one at a time. */
const slowly = (model: string): string => `${model}+pace-50`;
const long = "words:40";

describe.each(engines)("on %s", (engine) => {
  let rig: Rig;
  let client: OpenAI;
  let caller: Caller;
  let user: Talker;
  let other: Talker;

  beforeAll(async () => {
    rig = await startRig(await storageOn(engine, postgres));
    ({ client, caller } = await newClient(rig));
    user = talker(rig.gateway.url, caller.token);
    other = talker(rig.gateway.url, (await rig.caller()).token);
  });
  afterEach(() => rig.expectBalancedBooks());
  afterAll(() => rig.stop());

  /** Simulators give equal requests equal ids. */
  let said = 0;
  const hello = (): string => `hello ${(said += 1)}`;

  const isOpen = ({ status }: Response): boolean => status === "queued" || status === "in_progress";

  /** Asks until it has ended. */
  async function endOf(id: string): Promise<Response> {
    let response: Response | undefined;
    await until(`${id} has ended`, async () => {
      if (response !== undefined && isOpen(response)) rig.simulators.advance(1_000);
      response = await client.responses.retrieve(id);
      return !isOpen(response);
    });
    if (response === undefined) throw new Error("never asked");
    return response;
  }

  async function eventsOf(stream: AsyncIterable<StreamEvent>): Promise<StreamEvent[]> {
    const events: StreamEvent[] = [];
    for await (const event of stream) events.push(event);
    return events;
  }

  test.each(models)("%s: is answered at once, polled to its end, and charged once", async (model) => {
    const before = await caller.closed();
    const created = await client.responses.create({ model, input: hello(), background: true });
    expect(created).toMatchObject({ object: "response", background: true });
    expect(isOpen(created) || created.status === "completed").toBe(true);
    const ended = await endOf(created.id);
    expect(ended).toMatchObject({ id: created.id, status: "completed", background: true, error: null });
    expect(ended.output_text).toContain("You said: hello");
    expect(await caller.closed()).toBeGreaterThan(before);
    const spent = await caller.closed();
    expect((await client.responses.retrieve(created.id)).output_text).toBe(ended.output_text);
    const items = await client.responses.inputItems.list(created.id).catch(() => undefined);
    if (items !== undefined) expect(JSON.stringify(items.data)).toContain("hello");
    // It is continued like any other.
    const next = await client.responses.create({ model, input: "and?", previous_response_id: created.id });
    expect(next.output_text).toContain("You said: and?");
    expect(await caller.closed()).toBeGreaterThan(spent);
  });

  test("is asked natively where the provider runs it, and polled with the key that made it", async () => {
    const created = await client.responses.create({ model: native, input: hello(), background: true });
    expect(created.status).toBe("queued");
    const sent = rig.received("gpt-5-mini").map(({ body }) => JSON.parse(body) as object);
    expect(sent.at(-1)).toMatchObject({ background: true });
    expect((await caller.books()).held).toBeGreaterThan(0n);
    await endOf(created.id);
    const polled = rig.simulators.requests().filter(({ path }) => path.endsWith(`/responses/${created.id}`));
    expect(polled.length).toBeGreaterThan(0);
  });

  test.each([foreign, native])("%s: goes on when nobody asks for it", async (model) => {
    const before = await caller.closed();
    const { id } = await client.responses.create({ model, input: hello(), background: true });
    rig.simulators.advance(10_000);
    expect(await caller.closed()).toBeGreaterThan(before);
    // Its end is stored once its charge is.
    expect((await endOf(id)).status).toBe("completed");
    const { headers } = await user.ask(`${responsesPath}/${id}`);
    expect(headers.get("content-type")).toContain("json");
  });

  test.each([foreign, stored, native])("%s: may be read as a stream from the beginning", async (model) => {
    const stream = await client.responses.create({ model, input: hello(), background: true, stream: true });
    const events = await eventsOf(stream);
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
    const types = events.map(({ type }) => type);
    expect([types[0], types.at(-1)]).toEqual(["response.created", "response.completed"]);
    const last = events.at(-1);
    if (last?.type !== "response.completed") throw new Error("no end");
    expect(last.response).toMatchObject({ background: true, status: "completed" });
    // All of it is there for others, from any place.
    const { id } = last.response;
    expect(await eventsOf(await client.responses.retrieve(id, { stream: true }))).toEqual(events);
    const rest = await eventsOf(await client.responses.retrieve(id, { stream: true, starting_after: 3 }));
    expect(rest).toEqual(events.slice(4));
  });

  test.each([foreign, stored])("%s: its client may hang up and resume", async (model) => {
    const before = await caller.closed();
    const body = { model: slowly(model), input: long, background: true, stream: true } as const;
    const seen: StreamEvent[] = [];
    for await (const event of await client.responses.create(body)) {
      seen.push(event);
      if (event.type === "response.output_text.delta") break;
    }
    const [first] = seen;
    if (first?.type !== "response.created") throw new Error("no beginning");
    const { id } = first.response;
    expect((await client.responses.retrieve(id)).status).toBe("in_progress");
    const after = seen.at(-1)?.sequence_number ?? -1;
    const rest = await eventsOf(await client.responses.retrieve(id, { stream: true, starting_after: after }));
    const all = [...seen, ...rest];
    expect(all.map((event) => event.sequence_number)).toEqual(all.map((_, index) => index));
    const text = all.flatMap((event) => (event.type === "response.output_text.delta" ? [event.delta] : [])).join("");
    const ended = await client.responses.retrieve(id);
    expect([ended.status, ended.output_text]).toEqual(["completed", text]);
    expect(await caller.closed()).toBeGreaterThan(before);
  });

  test("one that its upstream runs has a stream of its beginning and its end", async () => {
    const { id } = await client.responses.create({ model: native, input: hello(), background: true });
    rig.simulators.advance(10_000);
    const events = await eventsOf(await client.responses.retrieve(id, { stream: true }));
    expect(events.map(({ type }) => type)).toEqual(["response.created", "response.completed"]);
  });

  test.each([foreign, stored])("%s: cancelled, it ends, and its text so far is charged", async (model) => {
    const before = await caller.closed();
    const body = { model: slowly(model), input: "words:2000", background: true } as const;
    const { id } = await client.responses.create(body);
    await until("it runs", async () => (await client.responses.retrieve(id)).status === "in_progress");
    const watching = (async () => eventsOf(await client.responses.retrieve(id, { stream: true })))();
    const [one, two] = await Promise.all([client.responses.cancel(id), client.responses.cancel(id)]);
    expect([one.status, two.status]).toEqual(["cancelled", "cancelled"]);
    expect((await client.responses.cancel(id)).status).toBe("cancelled");
    expect((await client.responses.retrieve(id)).status).toBe("cancelled");
    const last = (await watching).at(-1);
    expect(last).toMatchObject({ type: "response.failed", response: { id, status: "cancelled" } });
    expect(await caller.closed()).toBeGreaterThan(before);
  });

  test("one that its upstream runs is cancelled there", async () => {
    const before = await caller.closed();
    const { id } = await client.responses.create({ model: native, input: `forever ${hello()}`, background: true });
    expect((await client.responses.cancel(id)).status).toBe("cancelled");
    expect(rig.simulators.requests().some(({ path }) => path.endsWith(`/responses/${id}/cancel`))).toBe(true);
    expect((await client.responses.retrieve(id)).status).toBe("cancelled");
    // The upstream bills it, and gives no usage.
    expect(await caller.closed()).toBeGreaterThan(before);
  });

  test("cancelled before its upstream has answered, it ends all the same", async () => {
    const { id } = await client.responses.create({ model: `${foreign}+slow-60000`, input: hello(), background: true });
    expect((await client.responses.retrieve(id)).status).toBe("queued");
    expect((await client.responses.cancel(id)).status).toBe("cancelled");
    await caller.closed();
  });

  test.each([
    ["whose stream breaks off", `${foreign}+cut-4`],
    ["that its upstream refuses", `${foreign}+status-400`],
    ["that its upstream fails to make", `${stored}+failed`],
  ])("one %s has failed", async (_, model) => {
    const { id } = await client.responses.create({ model, input: long, background: true });
    const { status, error } = await endOf(id);
    expect(status).toBe("failed");
    expect(error?.message).toBeString();
    await caller.closed();
  });

  test("one that its upstream refuses before it has an id is refused", async () => {
    const body = { model: `${native}+status-400`, input: hello(), background: true };
    const refusal: unknown = await client.responses.create(body).catch((thrown: unknown) => thrown);
    expect(refusal).toMatchObject({ status: 400 });
    await caller.closed();
  });

  test.each<[string, object, string]>([
    ["that is not stored", { store: false }, "background"],
    ["with a place that is none", { background: "true" }, "background"],
  ])("one %s is refused", async (_, more, param) => {
    for (const model of [native, foreign, stored]) {
      const { status, json } = await user.ask(responsesPath, {
        body: { model, input: hello(), background: true, ...more },
      });
      expect([status, (json as { error: { param: string } }).error.param]).toEqual([422, param]);
    }
  });

  test("another user's is not found", async () => {
    const { id } = await client.responses.create({ model: slowly(foreign), input: long, background: true });
    const one = `${responsesPath}/${id}`;
    for (const [path, method] of [
      [one, "GET"],
      [`${one}?stream=true`, "GET"],
      [`${one}/input_items`, "GET"],
      [`${one}/cancel`, "POST"],
      [one, "DELETE"],
    ] as const) {
      const { status, text } = await other.ask(path, { method });
      expect([status, text]).toEqual([404, expect.stringContaining("response_not_found") as string]);
    }
    expect((await endOf(id)).status).toBe("completed");
  });

  test("its input is listed, and it is forgotten, while it runs", async () => {
    const { id } = await client.responses.create({ model: slowly(foreign), input: "words:2000", background: true });
    const items = await client.responses.inputItems.list(id);
    expect(JSON.stringify(items.data)).toContain("words:2000");
    await client.responses.delete(id);
    expect((await user.ask(`${responsesPath}/${id}`)).status).toBe(404);
    expect((await user.ask(`${responsesPath}/${id}?stream=true`)).status).toBe(404);
    await caller.closed();
  });

  test.each([
    ["stream=true", 422],
    ["stream=true&starting_after=-1", 422],
    ["stream=true&starting_after=x", 422],
  ] as const)("of a response that was answered at once there is no stream: %s", async (query, status) => {
    const { id } = await client.responses.create({ model: foreign, input: hello() });
    expect((await user.ask(`${responsesPath}/${id}?${query}`)).status).toBe(status);
    expect((await user.ask(`${responsesPath}/${id}/cancel`, { method: "POST" })).status).toBe(422);
  });

  test("a retry key gives the same response again, and costs nothing more", async () => {
    const headers = { "idempotency-key": `background-${engine}` };
    for (const more of [{}, { stream: true }]) {
      const body = { model: foreign, input: hello(), background: true, ...more };
      const key = { "idempotency-key": `${headers["idempotency-key"]}-${"stream" in more}` };
      const first = await user.ask(responsesPath, { body, headers: key });
      const again = await user.ask(responsesPath, { body, headers: key });
      expect([first.status, again.status, again.headers.get("idempotent-replayed")]).toEqual([200, 200, "true"]);
      const id = /"id":"(resp_\w+)"/.exec(first.text)?.[1];
      expect(again.text).toContain(id ?? "no id");
      expect((await endOf(id ?? "")).status).toBe("completed");
      const spent = await caller.closed();
      expect((await user.ask(responsesPath, { body, headers: key })).headers.get("idempotent-replayed")).toBe("true");
      expect(await caller.closed()).toBe(spent);
    }
  });

  test("its generation tells the usage of the whole response", async () => {
    const { headers, json } = await user.ask(responsesPath, {
      body: { model: foreign, input: hello(), background: true },
    });
    const { usage } = await endOf((json as Response).id);
    await caller.closed();
    const generation = await generationOf(rig, caller, { headers });
    expect(generation).toMatchObject({ outcome: "complete" });
    expect(JSON.stringify(generation)).toContain(String(usage?.output_tokens));
  });
});
