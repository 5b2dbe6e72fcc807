/** Invalid forms: the right refusal, naming the part, and nothing of them remains. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { imageFile } from "../../simulators/testing/media.ts";
import {
  type Caller,
  expectRefusal,
  fieldOf,
  fileOf,
  formBodyOf,
  formBoundary,
  type FormPost,
  formType,
  newSpoolFolder,
  openForm,
  partOf,
  type Refusal,
  type Rig,
  sendForm,
  type SpoolFolder,
  startRig,
  until,
} from "../kit/index.ts";

const MIB = 1_048_576;
const bodyBytesMax = 4 * MIB;

let rig: Rig;
let spool: SpoolFolder;
let caller: Caller;
let image: Uint8Array;
beforeAll(async () => {
  spool = newSpoolFolder();
  rig = await startRig({
    config: { server: { body_limit: "4MiB", body_timeout: "500ms" }, log: { level: "trace" } },
    variables: { TMPDIR: spool.path },
  });
  caller = await rig.caller();
  image = await imageFile(64, 64).bytes();
});
/** After any request: nothing is held or spent, and no file, descriptor or internal error remains. */
afterEach(async () => {
  await rig.expectBalancedBooks();
  expect(await caller.closed()).toBe(0n);
  await until("no file is open", () => spool.openIn(rig.gateway.process.pid) === 0);
  expect(spool.files()).toEqual([]);
  expect(rig.gateway.logLines().filter(({ level }) => Number(level) >= 50)).toEqual([]);
});
afterAll(async () => {
  await rig.stop();
  spool.remove();
});

const model = (): Buffer => fieldOf("model", "openai/gpt-image-1");
const prompt = (): Buffer => fieldOf("prompt", "one red fox");
const file = (): Buffer => fileOf("image", image);

function postOf(body: Uint8Array, more: Partial<FormPost> = {}): FormPost {
  return { url: rig.gateway.url, path: "/v1/images/edits", token: caller.token, body, ...more };
}

async function expectRefused(post: FormPost, refusal: Refusal): Promise<void> {
  const before = rig.simulators.total();
  const answer = await sendForm(post);
  expectRefusal(answer, answer.body, refusal);
  expect(rig.simulators.total()).toBe(before);
}

const invalid = (param: string | null, message: string | RegExp = ""): Refusal => ({
  status: 422,
  code: "validation_failed",
  param,
  message,
});

describe("a form with invalid parts", () => {
  const noise = Buffer.from("ff00fe", "hex");

  test.each<[string, () => Uint8Array[], Refusal]>([
    ["no file", () => [model(), prompt()], invalid("image", "the form has no such file")],
    ["no parts at all", () => [], invalid("image")],
    [
      "an image that is no file",
      () => [model(), prompt(), fieldOf("image", "cat.png")],
      invalid("image", "the form has no such file"),
    ],
    ["a mask alone", () => [model(), prompt(), fileOf("mask", image)], invalid("image")],
    ["no model", () => [prompt(), file()], invalid("model")],
    ["an empty model", () => [fieldOf("model", ""), prompt(), file()], invalid("model")],
    ["two models", () => [model(), model(), prompt(), file()], invalid("model", "is there twice")],
    [
      "two models under names that some take for one",
      () => [model(), fieldOf("Model", "openai/gpt-image-1"), prompt(), file()],
      invalid("Model", "is there twice"),
    ],
    ["a list of models", () => [fieldOf("model[]", "openai/gpt-image-1"), prompt(), file()], invalid("model")],
    ["a model as a file", () => [fileOf("model", "openai/gpt-image-1"), prompt(), file()], invalid("model")],
    [
      "a model and a file of its name",
      () => [model(), fileOf("model", "openai/gpt-image-1-mini"), prompt(), file()],
      invalid("model", "is there twice"),
    ],
    ["no prompt", () => [model(), file()], invalid("prompt")],
    ["a prompt that is no text", () => [model(), fieldOf("prompt", noise), file()], invalid("prompt", "UTF-8")],
    ["a number that is none", () => [model(), prompt(), fieldOf("n", "many"), file()], invalid("n")],
    ["no number of images", () => [model(), prompt(), fieldOf("n", "0"), file()], invalid("n")],
    ["a flag that is none", () => [model(), prompt(), fieldOf("stream", "maybe"), file()], invalid("stream")],
    [
      "a part without a name",
      () => [model(), prompt(), partOf("Content-Disposition: form-data", "x"), file()],
      invalid("parts.2", "Part 3 of the form has no name"),
    ],
    [
      "a part without a disposition",
      () => [model(), partOf("Content-Type: image/png", image)],
      invalid("parts.1", "Part 2 of the form has no Content-Disposition"),
    ],
    [
      "a part in base64",
      () => [model(), prompt(), fieldOf("image", "AAAA", '; filename="a.png"\r\nContent-Transfer-Encoding: base64')],
      invalid("image", "Content-Transfer-Encoding"),
    ],
    [
      "a prompt in another character set",
      () => [model(), fieldOf("prompt", "x", "\r\nContent-Type: text/plain; charset=utf-16"), file()],
      invalid("prompt", "charset"),
    ],
    [
      "a part that is shorter than it says",
      () => [model(), fieldOf("prompt", "one red fox", "\r\nContent-Length: 5"), file()],
      invalid("prompt", "Content-Length"),
    ],
    [
      "headers without an end",
      () => [model(), fieldOf("image", image, `; filename="${"x".repeat(20_000)}"`)],
      invalid("parts.1", "over 16384 bytes"),
    ],
    [
      "a prompt of megabytes",
      () => [model(), fieldOf("prompt", Buffer.alloc(MIB + 1, "x")), file()],
      invalid("prompt", "1048576 bytes"),
    ],
    [
      "thousands of parts",
      () => [...Array.from({ length: 5_000 }, (_, index) => fieldOf(`x${index}`, "")), model(), prompt(), file()],
      invalid(null, "more than 1000 parts"),
    ],
    [
      "thousands of files",
      () => [model(), prompt(), ...Array.from({ length: 5_000 }, () => file())],
      invalid(null, "more than 1000 parts"),
    ],
    [
      "the boundary within a file",
      () => [model(), prompt(), fileOf("image", `PNG--${formBoundary}\r\n`)],
      invalid("image", "holds the boundary"),
    ],
    [
      "the boundary behind a bare line feed",
      () => [model(), prompt(), fileOf("image", `PNG\n--${formBoundary}\r\nContent-Disposition: x\r\n\r\n`)],
      invalid("image", "holds the boundary"),
    ],
    [
      "a longer boundary within a file",
      () => [model(), prompt(), fileOf("image", `PNG\r\n--${formBoundary}0\r\n`)],
      invalid("image", "holds the boundary"),
    ],
  ])("%s", async (_what, parts, refusal) => {
    const body = formBodyOf(parts());
    await expectRefused(postOf(body), refusal);
    if (body.length > 0) await expectRefused(postOf(body, { chunked: "whole" }), refusal);
  });
});

describe("a body that is no whole form", () => {
  const whole = (): Buffer => formBodyOf([model(), prompt(), file()]);

  test.each<[string, string, Refusal]>([
    ["without a boundary", "multipart/form-data", invalid("content-type", "boundary")],
    ["with an empty boundary", "multipart/form-data; boundary=", invalid("content-type")],
    ["with two boundaries", `${formType()}; boundary=x`, invalid("content-type")],
    ["with a boundary of 71 characters", formType("x".repeat(71)), invalid("content-type", "1 to 70")],
    ["with another boundary", formType("other"), invalid(null, "final boundary is missing")],
    ["as other parts", `multipart/mixed; boundary=${formBoundary}`, invalid(null)],
    ["as fields of an address", "application/x-www-form-urlencoded", invalid(null)],
    ["as an image", "image/png", invalid(null)],
    ["as JSON", "application/json", invalid(null)],
  ])("%s", async (_what, contentType, refusal) => {
    await expectRefused(postOf(whole(), { contentType }), refusal);
  });

  test.each<[string, (body: Buffer) => Uint8Array, Refusal]>([
    ["empty", () => Buffer.of(), invalid(null, "final boundary is missing")],
    ["cut within a file", (body) => body.subarray(0, -80), invalid("image", "breaks off")],
    ["cut within the final boundary", (body) => body.subarray(0, -10), invalid("image", "breaks off")],
    ["without the end of the final boundary", (body) => body.subarray(0, -4), invalid("image", "final boundary")],
    ["cut within a header", (body) => body.subarray(0, 60), invalid(null, "breaks off")],
    [
      "with a part behind its end",
      (body) => Buffer.concat([body, formBodyOf([model()])]),
      invalid(null, "holds the boundary"),
    ],
  ])("%s", async (_what, cut, refusal) => {
    await expectRefused(postOf(cut(whole())), refusal);
  });
});

describe("a body that is too long", () => {
  const tooLong: Refusal = { status: 413, code: "body_too_large", message: String(bodyBytesMax) };

  test("by its declared size is refused before it arrives", async () => {
    await expectRefused(postOf(Buffer.of(), { declared: bodyBytesMax + 1 }), tooLong);
  });

  test("in chunks is refused while it comes, its end not awaited", async () => {
    const body = formBodyOf([model(), prompt(), fileOf("image", Buffer.alloc(bodyBytesMax, 1))]);
    await expectRefused(postOf(body.subarray(0, -40), { chunked: "unended" }), tooLong);
  });

  test("by a single byte", async () => {
    const padding = bodyBytesMax - formBodyOf([model(), prompt(), fileOf("image", "")]).byteLength;
    const bodyWith = (bytes: number) => formBodyOf([model(), prompt(), fileOf("image", Buffer.alloc(bytes, 1))]);
    await expectRefused(postOf(bodyWith(padding + 1)), tooLong);
    // One that just fits passes, to an upstream that validates it.
    const answer = await sendForm(postOf(bodyWith(padding)));
    expect([answer.status, answer.body.includes("Invalid image file")]).toEqual([400, true]);
  });
});

describe("a client who doesn't end its upload", () => {
  const beginning = (bytes: number): Uint8Array =>
    formBodyOf([model(), prompt(), fileOf("image", Buffer.alloc(bytes, 1))]).subarray(0, bytes);

  /** Calls that the gateway has refused with this error so far. */
  const refusals = (error: string): number => rig.gateway.logLines().filter((line) => line["error"] === error).length;

  test.each([
    ["in memory", 1_000],
    ["in a file", 2 * MIB],
  ])("leaves nothing behind of a form that was %s", async (_where, bytes) => {
    const before = refusals("request_interrupted");
    const sent = rig.simulators.total();
    const connection = await openForm(postOf(beginning(bytes), { declared: 3 * MIB }));
    if (bytes > MIB) await until("it is being stored", () => spool.openIn(rig.gateway.process.pid) === 1);
    await until("it has no name", () => spool.files().length === 0);
    connection.socket.destroy();
    await until("the gateway has noticed", () => refusals("request_interrupted") === before + 1);
    expect(rig.simulators.total()).toBe(sent);
  });

  test("but stays connected is refused in time", async () => {
    const connection = await openForm(postOf(beginning(2 * MIB), { declared: 3 * MIB }));
    const answer = await connection.answer();
    if (answer === undefined) throw new Error("no answer");
    expectRefusal(answer, answer.body, { status: 408, code: "request_timeout" });
    connection.socket.destroy();
  });
});

test("without a token nothing of a form is read", async () => {
  const answer = await sendForm(postOf(Buffer.of(), { token: "tg_nobody", declared: 3 * MIB }));
  expectRefusal(answer, answer.body, { status: 401, code: "invalid_token" });
});

test("without credits a form is not kept", async () => {
  const token = await rig.gateway.token({ user: "penniless", credits: 1n });
  const answer = await sendForm(
    postOf(formBodyOf([model(), prompt(), fileOf("image", Buffer.alloc(2 * MIB))]), { token }),
  );
  expectRefusal(answer, answer.body, { status: 402, code: "insufficient_credits", type: "insufficient_credits" });
});
