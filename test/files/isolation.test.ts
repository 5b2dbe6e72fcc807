/** The upstream's key is everybody's: nothing about another user's files gets out, whatever a caller or an upstream does. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  expectRefusal,
  query,
  type Rig,
  type ScriptedUpstream,
  simulatedKey,
  sorted,
  startRig,
  startScriptedUpstream,
  tablesWith,
  until,
} from "../kit/index.ts";
import { type FilesClient, newFilesClient } from "./files-client.ts";

const keys = ["sk-first-0123456789abcdef", "sk-second-fedcba9876543210"];

/** Takes any upload, and sends half of any file. */
function startCuttingUpstream() {
  const made = JSON.stringify({ id: "file-cut" });
  return Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(socket, bytes) {
        const request = bytes.toString("latin1");
        if (request.startsWith("GET")) socket.end("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n01234");
        else if (request.endsWith("--\r\n"))
          socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${made.length}\r\n\r\n${made}`);
      },
    },
  });
}

let rig: Rig;
let cutting: ReturnType<typeof startCuttingUpstream>;
let upstream: ScriptedUpstream;
let alice: FilesClient;
let mallory: FilesClient;
let service: FilesClient;

beforeAll(async () => {
  upstream = startScriptedUpstream();
  cutting = startCuttingUpstream();
  rig = await startRig({
    providers: ({ providers }) => ({
      up: { kind: "openai", base_url: upstream.url, api_key: keys[0] },
      two: { kind: "openai", base_url: providers.openai, api_keys: keys },
      cut: { kind: "openai", base_url: `http://127.0.0.1:${cutting.port}`, api_key: keys[0] },
      same: { kind: "openai", base_url: upstream.url, api_keys: keys },
      slow: { kind: "openai", base_url: providers.openai, api_key: `${simulatedKey}+slow-60000` },
    }),
    config: { upstream: { retries: 0 } },
  });
});
beforeEach(async () => {
  alice = await newFilesClient(rig);
  mallory = await newFilesClient(rig);
  service = await newFilesClient(rig, { service: true });
  rig.simulators.clear();
});
afterAll(async () => {
  await rig.stop();
  await upstream.stop();
  cutting.stop(true);
});

const file = (id: string) => ({ id, object: "file", bytes: 7, filename: "f", purpose: "user_data", created_at: 1 });
const page = (files: readonly unknown[], more: object = {}) =>
  Response.json({ object: "list", data: files, has_more: false, ...more });

/** Uploads as this user, to an upstream that answers with this id. */
async function uploadedAs(client: FilesClient, id: string): Promise<void> {
  upstream.answerWith(() => Response.json(file(id)));
  expect((await client.upload("up")).status).toBe(200);
}

const methods = ["GET", "DELETE"] as const;

describe("an id", () => {
  const odd = [
    "..%2Fmodels",
    "%2E%2E%2Fmodels",
    "%252e%252e",
    "file-1%2Fcontent",
    "file-1%2F..%2F..%2Fmodels",
    "file-1%3Fx=1",
    "file-1%23x",
    "file%201",
    "file-1%00",
    "%00",
    "%zz",
    "-",
    "....",
    "a%5C..%5Cb",
    "é",
    "x".repeat(257),
    "%F0%9F%93%81",
    "'%20OR%20''='",
  ];

  test.each(odd)("%s reaches no upstream, whoever asks", async (id) => {
    upstream.answerWith(() => Response.json(file("x")));
    for (const client of [mallory, service]) {
      for (const path of [`files/${id}?provider=up`, `up/files/${id}`, `up/files/${id}/content`]) {
        for (const method of path.endsWith("content") ? (["GET"] as const) : methods) {
          const answer = await client.ask(path, { method });
          expectRefusal(answer, answer.text, { status: 404, code: "object_not_found", param: "file_id" });
        }
      }
    }
    expect(upstream.requests).toEqual([]);
  });

  test.each(["after", "before"])("of another user is none in %s", async (param) => {
    await uploadedAs(alice, `file-${alice.user}`);
    upstream.answerWith(() => page([]));
    const queries = [`${param}=file-${alice.user}`, `${param}=file-unknown`, `${param}=`, `${param}=..`];
    for (const given of queries) {
      const answer = await mallory.ask(`up/files?${given}`);
      expectRefusal(answer, answer.text, { status: 404, code: "object_not_found", param });
    }
    expect((await alice.ask(`up/files?${param}=file-${alice.user}&${param}=file-other`)).status).toBe(404);
    expect(upstream.requests).toEqual([]);
  });

  test("of a stranger's file and of none are refused alike", async () => {
    await uploadedAs(alice, "file-existing");
    upstream.answerWith(() => Response.json(file("file-existing")));
    const answers = await Promise.all(["file-existing", "file-absences"].map((id) => mallory.ask(`up/files/${id}`)));
    const [one = "", other = ""] = answers.map(({ text }) => text);
    expect(one.replace("existing", "absences")).toBe(other);
    expect(upstream.requests).toEqual([]);
  });

  test("at one provider is nothing at another", async () => {
    const id = await alice.uploaded("openai");
    for (const prefix of ["two", "byteplus"]) expect((await alice.ask(`${prefix}/files/${id}`)).status).toBe(404);
    expect((await alice.ask(`openai/files/${id}`)).status).toBe(200);
  });
});

describe("an upstream that lies", () => {
  test.each<[string, object | string]>([
    ["without an id", { object: "file" }],
    ["with a number as id", { ...file("x"), id: 7 }],
    ["with a path as id", file("../models")],
    ["with an empty id", file("")],
    ["with a long id", file("x".repeat(300))],
    ["with text", "hello"],
    ["with a list", [file("x")]],
  ])("in answer to an upload %s is not believed", async (_what, answer) => {
    upstream.answerWith(() => (typeof answer === "string" ? new Response(answer) : Response.json(answer)));
    const { status, code } = await alice.upload("up");
    expect([status, code]).toEqual([502, "upstream_invalid_answer"]);
  });

  test("about the id of an upload gives no file away", async () => {
    await uploadedAs(alice, "file-of-alice");
    upstream.answerWith(() => Response.json(file("file-of-alice")));
    expect(await mallory.upload("up")).toMatchObject({ status: 502, code: "upstream_invalid_answer" });
    expect(await mallory.ask("up/files/file-of-alice")).toMatchObject({ status: 404 });
    expect(await alice.ask("up/files/file-of-alice")).toMatchObject({ status: 200 });
  });

  test("about a file, by sending another one", async () => {
    await uploadedAs(alice, "file-mine");
    upstream.answerWith(() => Response.json(file("file-other")));
    expect(await alice.ask("up/files/file-mine")).toMatchObject({ status: 502, code: "upstream_invalid_answer" });
  });

  test("with strangers in the list shows none of them", async () => {
    await uploadedAs(alice, "file-mine-2");
    const others = [file("file-other"), { id: 7 }, null, "file-mine-2", { id: ["file-mine-2"] }, {}];
    upstream.answerWith(() => page([...others, file("file-mine-2"), file("file-mine-2")], { total: 9 }));
    const { json } = await alice.ask("up/files");
    expect(json).toEqual({
      object: "list",
      data: [file("file-mine-2")],
      first_id: "file-mine-2",
      last_id: "file-mine-2",
      has_more: false,
      total: 9,
    });
    expect((await mallory.ask("up/files")).json).toMatchObject({ data: [], first_id: null, last_id: null });
  });

  test.each<[string, () => Response]>([
    ["no list", () => Response.json({ object: "list" })],
    ["a text", () => new Response("[]")],
    ["null", () => Response.json({ data: null })],
  ])("with %s instead of a list is not believed", async (_what, answer) => {
    upstream.answerWith(answer);
    expect(await alice.ask("up/files")).toMatchObject({ status: 502, code: "upstream_invalid_answer" });
  });

  test("about the end of its list is read for so many pages", async () => {
    await uploadedAs(alice, "file-never-listed");
    let asked = 0;
    upstream.answerWith(() => {
      asked += 1;
      return page([file(`file-other-${asked}`)], { has_more: true, last_id: `file-other-${asked}` });
    });
    const { status, json } = await alice.ask("up/files?limit=1");
    expect([status, json, asked]).toMatchObject([200, { data: [], first_id: null, last_id: null, has_more: true }, 20]);
    asked = 0;
    upstream.answerWith(() => {
      asked += 1;
      return page([], { has_more: true, last_id: "file-again" });
    });
    expect((await alice.ask("up/files")).json).toMatchObject({ data: [], has_more: false });
    expect(asked).toBe(2);
    // Who has no files need not wait for strangers' ones.
    asked = 0;
    expect((await mallory.ask("up/files")).json).toMatchObject({ data: [], has_more: false });
    expect(asked).toBe(1);
  });

  test("with a page of ten thousand", async () => {
    await uploadedAs(alice, "file-9999");
    const many = Array.from({ length: 10_000 }, (_, index) => file(`file-${index}`));
    upstream.answerWith(() => page(many, { has_more: true, last_id: "file-9999" }));
    expect((await alice.ask("up/files")).json).toMatchObject({ data: [{ id: "file-9999" }], has_more: false });
    expect(upstream.requests).toHaveLength(1);
  });

  test("or fails is relayed, without its key", async () => {
    upstream.answerWith(() => Response.json({ error: { message: `key ${keys[0]} is bad` } }, { status: 403 }));
    for (const answer of [await alice.ask("up/files"), await alice.upload("up")]) {
      expect([answer.status, answer.text]).toEqual([403, expect.stringContaining("[redacted]") as string]);
    }
  });

  test("or breaks off in the middle of a download breaks off for the client as well", async () => {
    await alice.uploaded("cut");
    expect(await alice.ask("cut/files/file-cut/content").catch(() => "broken")).toBe("broken");
  });

  test("or loses the answer to an upload leaves a file that nobody can use", async () => {
    upstream.answerWith(() => new Response("{", { headers: { "content-length": "9" } }));
    expect((await alice.upload("up")).status).toBe(502);
    upstream.answerWith(() => page([file("file-lost")]));
    expect((await alice.ask("up/files")).json).toMatchObject({ data: [] });
    expect((await alice.ask("up/files/file-lost")).status).toBe(404);
  });
});

describe("a provider with two accounts", () => {
  test("lists the files of both, each by the key that made it", async () => {
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      ids.push(await alice.uploaded("two", `${index}`));
      // Keys are used in turn: now and then somebody else takes one.
      if (index % 2 === 1) await mallory.uploaded("two", `${index}`);
    }
    const listed = async (limit: string): Promise<string[]> => {
      const found: string[] = [];
      for (let after = ""; ;) {
        const { json } = await alice.ask(`two/files?order=asc${limit}${after}`);
        const {
          data,
          has_more: hasMore,
          last_id: last,
        } = json as { data: { id: string }[]; has_more: boolean; last_id: string };
        found.push(...data.map(({ id }) => id));
        if (!hasMore) return found;
        after = `&after=${last}`;
      }
    };
    for (const limit of ["", "&limit=1", "&limit=2", "&limit=3", "&limit=5"]) {
      const found = await listed(limit);
      expect([found.length, sorted(found)]).toEqual([5, sorted(ids)]);
    }
    for (const id of ids) {
      for (let times = 0; times < 3; times += 1) expect((await alice.ask(`two/files/${id}`)).status).toBe(200);
      expect((await service.ask(`two/files/${id}`)).status).toBe(200);
    }
  });

  test("that are one lists each file once, also those of a key that has been replaced", async () => {
    const ids = [`file-a-${alice.user}`, `file-b-${alice.user}`, `file-c-${alice.user}`];
    let made = 0;
    upstream.answerWith(({ method }) => {
      if (method === "GET") return page(ids.map(file));
      made += 1;
      return Response.json(file(ids[made - 1] ?? ""));
    });
    for (let index = 0; index < 3; index += 1) await alice.uploaded("same");
    const listed = async () =>
      ((await alice.ask("same/files")).json as { data: { id: string }[] }).data.map(({ id }) => id);
    expect(sorted(await listed())).toEqual(ids);
    await query(rig.gateway.storage, `UPDATE stored_objects SET key_id = 'replaced' WHERE id = '${ids[0]}'`);
    expect(sorted(await listed())).toEqual(ids);
  });

  test("gives a service also the files that nobody uploaded here", async () => {
    const form = new FormData();
    form.append("purpose", "fine-tune");
    form.append("file", new File(["x"], "x"));
    const headers = { authorization: `Bearer ${keys[1]}` };
    const made = await fetch(`${rig.simulators.providers.openai}/files`, { method: "POST", body: form, headers });
    const { id } = (await made.json()) as { id: string };
    expect((await alice.ask(`two/files/${id}`)).status).toBe(404);
    expect((await service.ask(`two/files/${id}`)).json).toMatchObject({ id });
    expect((await service.ask(`two/files/${id}/content`)).text).toBe("x");
    expect((await service.ask(`two/files/${id}`, { method: "DELETE" })).json).toMatchObject({ deleted: true });
    for (const method of methods) expect((await service.ask(`two/files/${id}`, { method })).status).toBe(404);
  });

  test("deletes the record of a file that the upstream no longer has", async () => {
    const id = await alice.uploaded("openai");
    const headers = { authorization: `Bearer ${simulatedKey}` };
    await fetch(`${rig.simulators.providers.openai}/files/${id}`, { method: "DELETE", headers });
    expect((await alice.ask(`files/${id}`)).text).toContain("No such File object");
    expect((await alice.ask(`files/${id}`, { method: "DELETE" })).json).toEqual({ id, object: "file", deleted: true });
    expect((await alice.ask(`files/${id}`)).code).toBe("object_not_found");
  });
});

describe("an upload", () => {
  test.each<[string, FormData | string, string | null]>([
    ["without a file", formOf({ purpose: "fine-tune" }), "file"],
    ["with a text as the file", formOf({ purpose: "fine-tune", file: "text" }), "file"],
    ["with the file under another name", formOf({ purpose: "fine-tune", data: new Blob(["x"]) }), "data"],
    ["with two files", formOf({ file: new Blob(["x"]), "file[]": new Blob(["y"]) }), "file[]"],
    [
      "with an address, to a provider that fetches none",
      formOf({ purpose: "fine-tune", url: "http://a.test" }),
      "file",
    ],
    ["as JSON", "{}", "content-type"],
  ])("%s is refused", async (_what, body, param) => {
    upstream.answerWith(() => Response.json(file("x")));
    const answer = await alice.ask("up/files", { method: "POST", body });
    expectRefusal(answer, answer.text, { status: 422, code: "validation_failed", param });
    expect(upstream.requests).toEqual([]);
  });

  test("of another's token, or none, is nobody's", async () => {
    for (const path of ["files", "up/files", "files/file-1", "files/file-1/content"]) {
      const answer = await fetch(`${rig.gateway.url}/v1/${path}`);
      expect(answer.status).toBe(401);
    }
    expect((await fetch(`${rig.gateway.url}/v1/files`, { method: "POST" })).status).toBe(401);
  });

  test("leaves no name and no content behind, in the log or the storage", async () => {
    const id = await alice.uploaded("openai", "a-secret-content");
    await alice.ask(`files/${id}/content`);
    await until("it is logged", () => rig.gateway.logLines().some(({ user }) => user === alice.user));
    const line = rig.gateway.logLines().find(({ user }) => user === alice.user);
    expect(line).toMatchObject({
      msg: "file upload",
      provider: "openai",
      purpose: "user_data",
      bytes: 16,
      status: 200,
    });
    for (const secret of ["a-secret-name", "a-secret-content"]) {
      expect(rig.gateway.log()).not.toContain(secret);
      expect(await tablesWith(rig.gateway.storage, secret)).toEqual([]);
    }
    await alice.upload("openai", "x", { purpose: "A secret purpose" });
    expect(rig.gateway.log()).not.toContain("secret purpose");
  });

  test("too many of one user at once are refused, and others' are not", async () => {
    const leaving = new AbortController();
    const send = (client: FilesClient) =>
      client.ask("slow/files", {
        method: "POST",
        body: formOf({ purpose: "fine-tune", file: new Blob(["x"]) }),
        signal: leaving.signal,
      });
    const waiting = Array.from({ length: 8 }, () => send(alice).catch(() => undefined));
    await until("all are under way", () => rig.simulators.requests().length === 8);
    const { status, code } = await alice.upload("openai");
    expect([status, code]).toEqual([429, "rate_limit_exceeded"]);
    await mallory.uploaded("openai");
    leaving.abort();
    await Promise.all(waiting);
    await until("they have ended", async () => (await alice.upload("openai")).status === 200);
  });

  test("that its client leaves is aborted at the upstream, and its place is free again", async () => {
    const leaving = new AbortController();
    const body = formOf({ purpose: "fine-tune", file: new Blob(["x"]) });
    const asking = alice.ask("slow/files", { method: "POST", body, signal: leaving.signal }).catch(() => undefined);
    await until("the upstream has it", () => rig.simulators.requests().length === 1);
    leaving.abort();
    await asking;
    await until("the upstream is left", () => rig.simulators.requests()[0]?.outcome === "aborted");
    await until(
      "no place is taken",
      async () => !(await tablesWith(rig.gateway.storage, alice.user)).includes("stored_objects"),
    );
  });
});

function formOf(fields: Record<string, string | Blob>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
}
