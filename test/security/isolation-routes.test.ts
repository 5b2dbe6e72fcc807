/** No route of the published document that lists something, or names it by an id, shows or does a user anything of another's. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { insertGeneration } from "../kit/generations.ts";
import { addHolder, grantCredits, issueTokenTo } from "../../src/accounts/index.ts";
import { openLedgerStore } from "../../src/ledger/index.ts";
import { createAccounts } from "../kit/accounts.ts";
import { type Caller, flatPrice, post, postChat, type Rig, root, startRig, until } from "../kit/index.ts";

const methods = ["get", "delete"] as const;
type Method = (typeof methods)[number];

interface Operation {
  security?: readonly object[];
  parameters?: readonly { name: string; required?: boolean }[];
}

interface Route {
  method: Method;
  /** With the names of its parameters in braces. */
  path: string;
  operation: Operation;
}

const nameOf = ({ method, path }: Route): string => `${method} ${path}`;
const named = (routes: readonly Route[]): [string, Route][] => routes.map((route) => [nameOf(route), route]);

/** The routes of the document, for one of the providers that have files. */
const routes = await documentedRoutes();

async function documentedRoutes(): Promise<Route[]> {
  const { paths } = (await Bun.file(join(root, "openapi.json")).json()) as {
    paths: Record<string, Partial<Record<Method, Operation>>>;
  };
  return Object.entries(paths).flatMap(([path, operations]) =>
    methods.flatMap((method) => {
      const operation = operations[method];
      return operation === undefined ? [] : [{ method, path: path.replace("{provider}", providerAt(path)), operation }];
    }),
  );
}

function providerAt(path: string): string {
  return path.includes("/tasks") ? "byteplus" : "openai";
}

const isPublic = ({ operation }: Route): boolean => operation.security?.length === 0;

/** What needs no token: it is nobody's, or its address is its protection. */
const publicRoutes = [
  "get /.well-known/oauth-protected-resource",
  "get /.well-known/oauth-protected-resource/{resource}",
  "get /admin/v1/sign_in",
  "get /client-metadata.json",
  "get /health",
  "get /health/ready",
  "get /openapi.json",
  "get /v2/screenshots/{id}",
];

/** The same for all users of a gateway. */
const commonPaths = new Set([
  "/v1/models",
  "/v1/models/{model_id}",
  "/v1beta/models",
  "/v1beta/models/{model_id}",
  "/v1/tools",
]);

/** Of roles, whose reach is tested beside them: `src/http/admin/admin.test.ts`. */
const isOfRoles = ({ path }: Route): boolean => path.startsWith("/admin/");

const ownRoutes = routes.filter((route) => !isPublic(route) && !isOfRoles(route) && !commonPaths.has(route.path));

/** What such a route names, as a parameter of its query. */
const queryOf: Readonly<Record<string, string>> = { "/v1/generations": "?parent_id={parent_id}" };

/** With the parameters that the route must have. */
const addressOf = ({ path }: Route): string => path + (queryOf[path] ?? "");
const namesSomething = (route: Route): boolean => addressOf(route).includes("{");

/**
 * By the beginning of a path, as far as the id of something: makes it as this user, and returns its id. A new route of the
 * document needs a row.
 */
const makers: Readonly<Record<string, (owner: Caller) => Promise<string>>> = {
  "/v1/generations/{request_id}": called,
  "/v1/generations?parent_id={parent_id}": async (owner) => {
    const parent = await called(owner);
    const { user } = owner;
    await insertGeneration(rig.gateway.storage, {
      ...part,
      id: missing(parent),
      owner: user,
      startedAt: Date.now(),
      parent,
    });
    return parent;
  },
  "/v1/responses/{response_id}": (owner) =>
    made(owner, "/v1/responses", { model: "openai/gpt-5-mini", input: "secret" }),
  "/v1/conversations/{conversation_id}": (owner) =>
    made(owner, "/v1/conversations", { items: [{ type: "message", id: itemId, role: "user", content: "secret" }] }),
  "/v1/videos/{video_id}": async (owner) => {
    const id = await made(owner, "/v1/videos", { model: "openai/sora-2", prompt: "secret" });
    await until("the video is completed", async () => {
      const { status } = (await (await ask(owner, "get", `/v1/videos/${id}`)).json()) as { status?: string };
      return status === "completed";
    });
    return id;
  },
  "/v1/byteplus/contents/generations/tasks/{task_id}": (owner) =>
    made(owner, "/v1/byteplus/contents/generations/tasks", {
      model: "seedance-1-5-pro-251215",
      content: [{ type: "text", text: "secret" }],
    }),
  "/v1/files/{file_id}": (owner) => uploaded(owner, "/v1/files"),
  "/v1/openai/files/{file_id}": (owner) => uploaded(owner, "/v1/openai/files"),
  "/v1/batches/{batch_id}": async (owner) => {
    const input_file_id = await uploaded(owner, "/v1/files", "batch");
    return made(owner, "/v1/batches", { input_file_id, endpoint: "/v1/embeddings", completion_window: "24h" });
  },
  "/v1/messages/batches/{message_batch_id}": async (owner) => {
    const messages = [{ role: "user", content: "secret" }];
    const params = { model: "openai/gpt-5-mini", max_tokens: 5, messages };
    const id = await made(owner, "/v1/messages/batches", { requests: [{ custom_id: "secret", params }] });
    await until("the batch has ended", async () => {
      const batch = (await (await ask(owner, "get", `/v1/messages/batches/${id}`)).json()) as Record<string, unknown>;
      return batch["processing_status"] === "ended";
    });
    return id;
  },
  // Their pages are not answered: they are active until they are deleted.
  "/v2/crawl/{id}": (owner) => made(owner, "/v2/crawl", { url: site.url.href, sitemap: "skip" }),
  "/v2/extract/{id}": (owner) => made(owner, "/v2/extract", { urls: [site.url.href], prompt: "secret" }),
  "/v2/batch/scrape/{id}": (owner) => made(owner, "/v2/batch/scrape", { urls: [site.url.href] }),
  "/v1/alerts/channels/{id}": async (owner) => {
    // The first one signs for all.
    await post(rig, "/v1/webhooks/secret", owner.token, {});
    return made(owner, "/v1/alerts/channels", { url: site.url.href });
  },
  "/v1/tools/connections/{id}": (owner) =>
    made(owner, "/v1/tools/connections", { server: "own", account: "secret", secret: "secret" }),
};

/** A call of a session. */
const part = {
  tokenId: "gone",
  operation: "realtime",
  dialect: undefined,
  provider: "openai",
  model: "secret",
  streamed: true,
  status: 200,
  outcome: "complete",
  usage: { input: 3 },
  inputTokens: 3,
  outputTokens: 0,
  credits: 7n,
  milliseconds: 1,
  millisecondsToFirstByte: undefined,
} as const;

let site: Bun.Server<undefined>;
let rig: Rig;
beforeAll(async () => {
  site = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url }) =>
      url.endsWith("/robots.txt") ? new Response("", { status: 404 }) : new Promise(() => undefined),
  });
  rig = await startRig({
    config: {
      pricing: { models: { "*": flatPrice, "openai/sora-2": { output_video_seconds: 0.1 } } },
      web: { allow_private_hosts: [site.url.host], model: "openai/gpt-5-mini" },
      mcp: { servers: { own: { url: site.url.href, auth: { header: "x-key", of: "user" } } } },
    },
  });
});
afterAll(async () => {
  await rig.stop();
  await site.stop(true);
});

const ask = ({ token }: Caller, method: Method, path: string, headers = {}): Promise<Response> =>
  fetch(rig.gateway.url + path, {
    method: method.toUpperCase(),
    headers: { authorization: `Bearer ${token}`, ...headers },
  });

let projects = 0;

/** A new project with this member, as a caller, and the header that names it. */
async function projectOf({ user }: Caller): Promise<{ project: Caller; header: Record<string, string> }> {
  projects += 1;
  const name = `project-${projects}`;
  const { storage } = rig.gateway;
  const environment = { clock: Date.now, randomBytes: (size: number) => randomBytes(size) };
  const accounts = createAccounts(storage, environment, "cli:test");
  await addHolder(accounts, { kind: "project", name, members: [user] });
  await grantCredits(accounts, { kind: "project", name }, 1_000_000_000_000n);
  const { secret: token } = await issueTokenTo(accounts, { owner: { kind: "project", name } });
  const books = async () => {
    const [account] = await openLedgerStore(storage).chain(`project:${name}`, Date.now());
    return { spent: account?.debitsPosted ?? 0n, held: account?.debitsPending ?? 0n };
  };
  const closed = async (): Promise<bigint> => {
    await until(`nothing is held for ${name}`, async () => (await books()).held === 0n);
    return (await books()).spent;
  };
  const owner = `project:${name}`;
  const project = {
    token,
    user: owner,
    books,
    closed,
    chat: (body: string | object) => postChat(rig.gateway, token, body),
  };
  return { project, header: { "x-tollgate-project": name } };
}

/** The id of a call of this user's. */
async function called(owner: Caller): Promise<string> {
  const answer = await owner.chat({ model: "openai/gpt-5-mini", messages: [{ role: "user", content: "secret" }] });
  await answer.text();
  await owner.closed();
  return answer.headers.get("x-request-id") ?? "";
}

async function made({ token }: Caller, path: string, body: object): Promise<string> {
  const answer = await post(rig, path, token, body);
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  return (JSON.parse(text) as { id: string }).id;
}

function uploaded(owner: Caller, path: string, purpose = "fine-tune"): Promise<string> {
  const form = new FormData();
  // OpenAI does not give files of most other purposes back.
  form.set("purpose", purpose);
  form.set("file", new File(["{}"], "secret.jsonl"));
  return made(owner, path, form);
}

function makerOf(route: Route): (owner: Caller) => Promise<string> {
  const address = addressOf(route);
  const [, make] = Object.entries(makers).find(([begin]) => address.startsWith(begin)) ?? [];
  if (make === undefined) throw new Error(`nothing is made for ${nameOf(route)}: it needs a row of \`makers\``);
  return make;
}

/** Of the item in a conversation: its client chooses it. */
const itemId = "msg_secret";

const withId = (route: Route, id: string): string =>
  addressOf(route)
    .replace("{item_id}", itemId)
    .replace(/\{\w+\}/, id);

/** An id of the same form that nothing has. */
const missing = (id: string): string =>
  id.slice(0, -4) + id.slice(-4).replaceAll(/./g, (each) => (each === "0" ? "1" : "0"));

/** Without what differs between two answers to the same request. */
async function comparable(answer: Response, id = "ID"): Promise<{ status: number; text: string }> {
  const text = (await answer.text()).replaceAll(/req_[0-9a-z]{25}/g, "REQUEST").replaceAll(id, "ID");
  return { status: answer.status, text };
}

test("no further route is public", () => {
  expect(routes.filter(isPublic).map(nameOf).toSorted()).toEqual(publicRoutes);
});

describe("what is another's is the same as what does not exist", () => {
  test.each(named(ownRoutes.filter(namesSomething)))("%s", async (_, route) => {
    const [alice, bob] = [await rig.caller(), await rig.caller()];
    const id = await makerOf(route)(alice);
    const others = await comparable(await ask(bob, route.method, withId(route, id)), id);
    const nobodys = await comparable(await ask(bob, route.method, withId(route, missing(id))), missing(id));
    expect(others).toEqual(nobodys);
    // Nor has a deletion done anything: it is there for its owner.
    const own = await comparable(await ask(alice, route.method, withId(route, id)), id);
    expect(own.status, own.text).toBe(200);
    expect(own.text).not.toBe(nobodys.text);
  });
});

describe("what is a project's is its members' to read, and nobody else's", () => {
  test.each(named(ownRoutes.filter(namesSomething)))("%s", async (_, route) => {
    const [member, stranger] = [await rig.caller(), await rig.caller()];
    const { project, header } = await projectOf(member);
    const id = await makerOf(route)(project);
    const path = withId(route, id);
    const nobodys = await comparable(await ask(stranger, route.method, withId(route, missing(id))), missing(id));
    expect(await comparable(await ask(stranger, route.method, path), id)).toEqual(nobodys);
    // Not theirs: they read it as the project.
    expect(await comparable(await ask(member, route.method, path), id)).toEqual(nobodys);
    expect((await ask(stranger, route.method, path, header)).status).toBe(route.method === "get" ? 404 : 422);
    const read = await ask(member, route.method, path, header);
    expect([route.method, read.status]).toEqual([route.method, route.method === "get" ? 200 : 422]);
    await read.body?.cancel();
    const own = await ask(project, route.method, path);
    expect(own.status).toBe(200);
    await own.body?.cancel();
  });

  test("calls are made with its own tokens only", async () => {
    const member = await rig.caller();
    const { project, header } = await projectOf(member);
    const body = { model: "openai/gpt-5-mini", messages: [{ role: "user", content: "secret" }] };
    expect((await member.chat(body, { headers: header })).status).toBe(422);
    expect(await project.closed()).toBe(0n);
    expect(await member.closed()).toBe(0n);
    expect((await ask(member, "get", "/v1/user/info", header)).status).toBe(200);
  });
});

describe("lists and sums", () => {
  // A handshake has nothing to show, and kinds of files are those of everybody.
  const alike = new Set(["/v1/realtime", "/v2/parse/formats"]);
  const lists = ownRoutes.filter((route) => !namesSomething(route) && !alike.has(route.path));

  test("show nothing of another user's, and nothing after it", async () => {
    const [alice, bob] = [await rig.caller(), await rig.caller()];
    const seen = (caller: Caller) =>
      Promise.all(lists.map(async ({ method, path }) => comparable(await ask(caller, method, path))));
    const [alicesBefore, bobsBefore] = [await seen(alice), await seen(bob)];
    const ids: string[] = [];
    for (const make of Object.values(makers)) ids.push(await make(alice));
    await until("each of them shows its owner something", async () => {
      const after = await seen(alice);
      return after.every(({ text }, index) => text !== alicesBefore[index]?.text);
    });
    expect(await seen(bob)).toEqual(bobsBefore);
    for (const { method, path, operation } of lists) {
      if (operation.parameters?.every(({ name }) => name !== "after") ?? true) continue;
      for (const id of ids) {
        const others = await comparable(await ask(bob, method, `${path}?after=${id}`), id);
        expect(others).toEqual(await comparable(await ask(bob, method, `${path}?after=${missing(id)}`), missing(id)));
      }
    }
  });
});
