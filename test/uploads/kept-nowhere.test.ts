/**
 * Image content and prompts are never stored: after a run with each kind of success and failure the log, the storage
 * and the folder of temporary files are searched for marks of them, as bytes and as base64.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { imageFile } from "../../simulators/testing/media.ts";
import {
  faultPrices,
  fieldOf,
  fileOf,
  formBodyOf,
  formBoundary,
  type FormPost,
  newSpoolFolder,
  openForm,
  query,
  type Rig,
  sendForm,
  type SpoolFolder,
  startRig,
  until,
} from "../kit/index.ts";

const promptMark = "marked-prompt-7d41ce";
/** Three of the same length in a row, so that base64 shows the middle one alike at any offset. */
const fileMark = "marked-file-90be2f-";
const kinds = [
  "openai/gpt-image-1",
  "xai/grok-imagine-image",
  "byteplus/seedream-5-0-260128",
  "google/gemini-nano-banana-2.1",
];

let rig: Rig;
let spool: SpoolFolder;
let token: string;
let client: OpenAI;
let picture: Uint8Array;
/** Of each kind of ending: how many there were. */
const endings = { answered: 0, refused: 0 };

beforeAll(async () => {
  spool = newSpoolFolder();
  rig = await startRig({
    variables: { TMPDIR: spool.path },
    config: {
      log: { level: "trace" },
      server: { body_limit: "4MiB" },
      upstream: { retries: 0 },
      pricing: { models: faultPrices },
    },
  });
  token = await rig.gateway.token({ user: "painter" });
  client = new OpenAI({ baseURL: `${rig.gateway.url}/v1`, apiKey: token, maxRetries: 0 });
  picture = Buffer.concat([await imageFile(64, 64).bytes(), Buffer.from(fileMark.repeat(3))]);
});
afterAll(async () => {
  await rig.stop();
  spool.remove();
});

/** Base64 of a part of the answers, after the header that all images share. */
const drawn: string[] = [];

function noteAnswer(data: readonly { b64_json?: string }[] | undefined): void {
  endings.answered += 1;
  for (const { b64_json } of data ?? []) if (b64_json !== undefined) drawn.push(b64_json.slice(40, 100));
}

function noteRefusal(): void {
  endings.refused += 1;
}

const prompt = `${promptMark}: a fox`;
const image = (): File => new File([picture], "cat.png", { type: "image/png" });

const generate = (model: string, more: object = {}) =>
  client.images
    .generate({ model, prompt, ...more } as OpenAI.ImageGenerateParamsNonStreaming)
    .then(({ data }) => noteAnswer(data), noteRefusal);

const edit = (model: string, more: object = {}) =>
  client.images
    .edit({ model, prompt, image: [image(), image()], ...more } as OpenAI.ImageEditParamsNonStreaming)
    .then(({ data }) => noteAnswer(data), noteRefusal);

async function stream(model: string): Promise<void> {
  const events = await client.images.edit({ model, prompt, image: image(), stream: true, partial_images: 1 });
  for await (const { b64_json } of events) noteAnswer([{ b64_json }]);
}

const postOf = (body: Uint8Array, more: Partial<FormPost> = {}): FormPost => ({
  url: rig.gateway.url,
  path: "/v1/images/edits",
  token,
  body,
  ...more,
});

describe("a run with everything that can go wrong", () => {
  test.each(kinds)("%s: images, edits and streams", async (model) => {
    const before = endings.answered;
    const inline = model.startsWith("openai/") ? {} : { response_format: "b64_json" };
    await Promise.all([generate(model, inline), edit(model, inline)]);
    const url = `data:image/png;base64,${Buffer.from(picture).toString("base64")}`;
    const body = { model, prompt, images: [{ image_url: url }] };
    expect(await client.post("/images/edits", { body })).toHaveProperty("data");
    if (!model.startsWith("byteplus/")) await stream(model).catch(noteRefusal);
    expect(endings.answered).toBeGreaterThanOrEqual(before + 2);
  });

  test.each(["status-400", "status-500", "connect-reset", "malformed", "cut-1", "error-200", "html-502", "no-usage"])(
    "the fault %s",
    async (fault) => {
      await Promise.all(kinds.flatMap((model) => [generate(`${model}+${fault}`), edit(`${model}+${fault}`)]));
    },
  );

  test("refusals of the safety systems, and ours", async () => {
    const before = endings.refused;
    await Promise.all(kinds.map((model) => generate(model, { prompt: `refuse:${promptMark}` })));
    await generate(kinds[0] ?? "", { size: promptMark, quality: promptMark, n: promptMark });
    await edit(kinds[3] ?? "", { mask: image(), size: promptMark });
    await generate(`anthropic/${promptMark}`);
    await edit("google/gemini-nano-banana-2.1", { background: promptMark });
    expect(endings.refused).toBeGreaterThan(before + 4);
  });

  test("forms that are wrong", async () => {
    const model = fieldOf("model", "openai/gpt-image-1");
    const said = fieldOf("prompt", prompt);
    const file = fileOf("image", picture);
    const large = fileOf("image", Buffer.concat([picture, Buffer.alloc(2_000_000), picture]));
    const bodies = [
      formBodyOf([said, file]),
      formBodyOf([model, file]),
      formBodyOf([model, said]),
      formBodyOf([model, said, fieldOf("n", promptMark), file]),
      formBodyOf([model, said, said, file]),
      formBodyOf([model, said, file]).subarray(0, -40),
      formBodyOf([model, said, large]).subarray(0, -40),
      formBodyOf([model, said, fileOf("image", `${fileMark}--${formBoundary}${fileMark}`)]),
      formBodyOf([model, said, large, large, large]),
    ];
    for (const body of bodies) expect((await sendForm(postOf(body))).status).toBeOneOf([413, 422]);
  });

  test("a client who leaves in the middle of an upload", async () => {
    const body = formBodyOf([fieldOf("prompt", prompt), fileOf("image", Buffer.alloc(2_000_000, fileMark))]);
    const connection = await openForm(postOf(body, { declared: 3_000_000 }));
    await until("it is being stored", () => spool.openIn(rig.gateway.process.pid) === 1);
    connection.socket.destroy();
    await until("the gateway has noticed", () => rig.gateway.log().includes("request_interrupted"));
  });
});

describe("afterwards", () => {
  /** All forms of the marks: the plain text, and base64 of the file's at any offset. */
  const marks = (): string[] => {
    const inBase64 = [0, 1, 2].map((shift) => {
      const text = Buffer.from("x".repeat(shift) + fileMark.repeat(2)).toString("base64");
      return text.slice(4, -4);
    });
    const inHex = Buffer.from(fileMark).toString("hex");
    return [
      promptMark,
      Buffer.from(promptMark).toString("base64").slice(0, -4),
      fileMark,
      inHex,
      ...inBase64,
      ...drawn,
    ];
  };

  /** The database with its journal, one character a byte. */
  const storageBytes = (): string => {
    const files = readdirSync(rig.gateway.folder).filter((name) => name.startsWith("tollgate.db"));
    return files.map((name) => readFileSync(join(rig.gateway.folder, name)).toString("latin1")).join("");
  };
  /** Those of the requests, which not even a stored answer may contain. */
  const sentMarks = (): string[] => marks().slice(0, 7);

  test("the run included all cases, and the marks are those of the requests", () => {
    expect(endings.answered).toBeGreaterThan(10);
    expect(endings.refused).toBeGreaterThan(40);
    expect(drawn.length).toBeGreaterThan(5);
    const sent = rig.simulators.requests().map(({ body }) => body);
    expect(sent.filter((body) => body.includes(promptMark)).length).toBeGreaterThan(50);
    const base64 = [0, 1, 2].map((shift) => Buffer.concat([Buffer.alloc(shift), picture]).toString("base64"));
    for (const mark of sentMarks().slice(4)) expect(base64.some((text) => text.includes(mark))).toBe(true);
  });

  test("no line of the log has any of it, only names, types and sizes of files", async () => {
    const last = await fetch(`${rig.gateway.url}/v1/last`);
    await until("the log has been written", () => rig.gateway.log().includes(last.headers.get("x-request-id") ?? "?"));
    const lines = rig.gateway.log().split("\n");
    expect(lines.length).toBeGreaterThan(80);
    expect(lines.some((line) => line.includes("cat.png") && line.includes("image/png"))).toBe(true);
    for (const mark of marks()) expect(lines.filter((line) => line.includes(mark))).toEqual([]);
  });

  test("no byte of the storage has any of it, and no temporary file is left", async () => {
    await rig.expectBalancedBooks();
    const dump = storageBytes();
    // The dump is real: its required content exists.
    for (const name of ["painter", "image_edit", "gpt-image-1"])
      expect([name, dump.includes(name)]).toEqual([name, true]);
    for (const mark of marks()) expect([mark, dump.includes(mark)]).toEqual([mark, false]);
    expect([spool.files(), spool.openIn(rig.gateway.process.pid)]).toEqual([[], 0]);
  });

  test("but for the answer to a call with a retry key, which alone is kept, without the prompt and the files", async () => {
    const headers = { "idempotency-key": "kept" };
    const { data } = await client.images.edit({ model: kinds[0] ?? "", prompt, image: image() }, { headers });
    noteAnswer(data);
    const rows = await query(rig.gateway.storage, "SELECT key FROM retry_keys");
    expect(rows).toHaveLength(1);
    const dump = storageBytes();
    expect(dump.includes(drawn.at(-1) ?? "?")).toBe(true);
    for (const mark of sentMarks()) expect([mark, dump.includes(mark)]).toEqual([mark, false]);
  });
});
