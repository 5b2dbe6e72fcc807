/** Tools that run at the provider of a session: only those that are billed by tokens alone, wherever they are named. */
import { afterEach, expect, test } from "bun:test";
import { SessionScene } from "./__fixtures__/session-scene.ts";

const PLENTY = 100_000_000_000n;

let scene: SessionScene;
afterEach(() => scene.stop());

const tools = (type: string): object[] => [{ type: "function", name: "f" }, { type }];

/** The places of tools in a client's events, by the path of the list. */
const places: readonly (readonly [path: string, eventOf: (type: string) => { type: string }])[] = [
  ["session.tools", (type) => ({ type: "session.update", session: { type: "realtime", tools: tools(type) } })],
  ["response.tools", (type) => ({ type: "response.create", response: { tools: tools(type) } })],
];

async function say(event: object): Promise<void> {
  scene = await SessionScene.start(PLENTY);
  void scene.handler.message(JSON.stringify(event));
  await scene.settle();
}

test.each(
  places.flatMap(([path, eventOf]) =>
    ["web_search", "file_search", "of_tomorrow"].map((type) => [type, path, eventOf] as const),
  ),
)("%s in %s is refused by its place, and not passed on", async (type, path, eventOf) => {
  const event = eventOf(type);
  await say(event);
  expect(scene.client.ofType("error")).toMatchObject([{ error: { param: `${path}.1.type` } }]);
  expect(scene.upstream.received.filter((each) => each["type"] === event.type)).toEqual([]);
});

test.each(places)("functions and servers of MCP in %s are passed on", async (_path, eventOf) => {
  const event = eventOf("mcp");
  await say(event);
  expect(scene.client.ofType("error")).toEqual([]);
  expect(scene.upstream.received.map((each) => each["type"])).toContain(event.type);
});
