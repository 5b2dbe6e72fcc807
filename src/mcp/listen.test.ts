import { expect, test } from "bun:test";
import { Ticker } from "../streaming/index.ts";
import { followSession, listen } from "./listen.ts";
import { Outgoing } from "./outgoing.ts";
import type { McpCall } from "./methods.ts";
import { freshState, type SessionState } from "./session-states.ts";
import type { McpServer } from "./server.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("a subscription that fails is made up for by the next change, and by the same one", async () => {
  let state: SessionState = freshState;
  let onChange = (): void => undefined;
  let isFailing = false;
  const watched: (readonly string[])[] = [];
  const server = {
    door: "lib",
    watch: (({ uris }) => {
      if (isFailing) return Promise.reject(new Error("the storage is away"));
      watched.push(uris);
      return Promise.resolve({ uris, stop: () => undefined });
    }) satisfies McpServer["watch"],
    onRetire: () => () => undefined,
  } as unknown as McpServer;
  const states = {
    known: () => state,
    of: () => Promise.resolve(state),
    change: () => Promise.resolve(),
    begin: () => undefined,
    end: () => Promise.resolve(),
    onEnd: () => undefined,
    watch: (_session: string, changed: () => void) => {
      onChange = changed;
      return () => undefined;
    },
  };
  const client = new AbortController();
  const outgoing = new Outgoing(new Ticker(1, () => 0, { every: () => () => undefined }), 0, () => undefined);
  const call = { server, signal: client.signal, outgoing, states, session: "s1" };
  const followed = followSession(call, () => () => undefined);
  await turn();
  const want = async (uri: string): Promise<void> => {
    state = { ...state, resources: [{ door: "lib", uri }] };
    onChange();
    await turn();
  };
  isFailing = true;
  await want("lib://a");
  isFailing = false;
  await want("lib://a");
  await want("lib://b");
  expect(watched).toEqual([[], ["lib://a"], ["lib://b"]]);
  client.abort();
  await followed;
});

test("a stream watches as many resources as a session may, by their number and their characters", async () => {
  const watched: (readonly string[])[] = [];
  const server = {
    watch: (({ uris }) => {
      watched.push(uris);
      return Promise.resolve({ uris, stop: () => undefined });
    }) satisfies McpServer["watch"],
    onRetire: () => () => undefined,
  };
  const wants = async (resourceSubscriptions: string[]): Promise<void> => {
    const client = new AbortController();
    const outgoing = new Outgoing(new Ticker(1, () => 0, { every: () => () => undefined }), 0, () => undefined);
    // The other members are not read.
    const call = {
      id: 1,
      params: { notifications: { resourceSubscriptions } },
      outgoing,
      server,
      signal: client.signal,
    };
    const listened = listen(call as unknown as McpCall, () => () => undefined);
    await turn();
    client.abort();
    await listened;
  };
  await wants(Array.from({ length: 200 }, (_, index) => `lib://${index}`));
  await wants(["lib://a", "x".repeat(16 * 1024), "lib://b"]);
  expect(watched.map((uris) => uris.length)).toEqual([100, 2]);
});
