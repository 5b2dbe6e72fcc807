import { describe, expect, test } from "bun:test";
import { limits } from "../../core/index.ts";
import {
  boundary,
  cutEvery,
  fieldPart,
  filePart,
  formOf,
  patient,
  post,
  rawPart,
  refusalOf,
  spoolFolder,
  streamed,
  withForm,
} from "./__fixtures__/forms.ts";
import { type FormLimits, isForm, readForm } from "./index.ts";

const typed = (contentType: string, body = formOf()): Request => post(body, { "content-type": contentType });

describe("the content type", () => {
  test.each([
    ["multipart/form-data; boundary=x", true],
    ["Multipart/Form-Data;boundary=x", true],
    ["multipart/form-data", true],
    ["multipart/mixed; boundary=x", false],
    ["application/json", false],
    ["multipart/form-data-x", false],
  ])("%s", (contentType, form) => {
    expect(isForm(typed(contentType).headers)).toBe(form);
  });

  test.each([
    `multipart/form-data; boundary=${boundary}`,
    `multipart/form-data; boundary="${boundary}"`,
    `Multipart/Form-Data ; charset=utf-8; Boundary="${boundary}"`,
  ])("%s is read", async (contentType) => {
    expect(await withForm(typed(contentType), ({ parts }) => parts)).toEqual([]);
  });

  test("may quote a boundary with blanks and colons", async () => {
    const body = Buffer.from("--a b:c?\r\nContent-Disposition: form-data; name=x\r\n\r\ny\r\n--a b:c?--\r\n");
    const request = typed('multipart/form-data; boundary="a b:c?"', body);
    expect(await withForm(request, ({ parts }) => parts[0]?.text)).toBe("y");
  });

  test.each([
    "application/json",
    "multipart/mixed; boundary=x",
    "multipart/form-data",
    "multipart/form-data; boundary=",
    'multipart/form-data; boundary=""',
    'multipart/form-data; boundary="a "',
    'multipart/form-data; boundary="a',
    "multipart/form-data; boundary=a; boundary=b",
    "multipart/form-data; boundary=a, multipart/form-data; boundary=b",
    "multipart/form-data; boundary=a; boundary*=utf-8''b",
    "multipart/form-data; boundary=ä",
    `multipart/form-data; boundary=${"a".repeat(71)}`,
  ])("%s is refused", async (contentType) => {
    const refused = await refusalOf(() => readForm(typed(contentType), patient));
    expect(refused).toMatchObject({ code: "validation_failed", status: 422, param: "content-type" });
  });
});

describe("fields", () => {
  test.each([
    ["no text that is UTF-8", [fieldPart("prompt", Buffer.from([0x61, 0xff]))], "prompt"],
    ["another character set for all", [fieldPart("_charset_", "utf-16")], "_charset_"],
    ["a length that is wrong", [rawPart('Content-Disposition: form-data; name="a"\r\nContent-Length: 2', "abc")], "a"],
    ["one name twice", [fieldPart("model", "a"), fieldPart("model", "b")], "model"],
    ["one name in two cases", [fieldPart("model", "a"), fieldPart("Model", "b")], "Model"],
    ["one name as field and file", [filePart("model", "a"), fieldPart("model", "b")], "model"],
    ["one name as field and list", [fieldPart("n", "1"), fieldPart("n[]", "2")], "n[]"],
    ["one name as list and field", [fieldPart("n[0]", "1"), fieldPart("n", "2")], "n"],
  ])("%s: refused", async (_title, parts, param) => {
    const refused = await refusalOf(() => readForm(post(formOf(...parts)), patient));
    expect(refused).toMatchObject({ code: "validation_failed", param });
  });

  test("lists and files repeat", async () => {
    const parts = [
      ...["word", "segment"].map((text) => fieldPart("timestamp_granularities[]", text)),
      ...["image", "image", "image[]"].map((name) => filePart(name, name)),
      fieldPart("_charset_", "UTF-8"),
    ];
    expect(await withForm(post(formOf(...parts)), (form) => form.parts.map(({ text }) => text))).toEqual([
      "word",
      "segment",
      undefined,
      undefined,
      undefined,
      "UTF-8",
    ]);
  });
});

const MB = 1024 * 1024;
const big = formOf(fieldPart("model", "m"), filePart("file", Buffer.alloc(3 * MB, "abc")));

describe("a body over the bound", () => {
  const bytesMax = 2 * MB;

  test("is refused by its declared length, before any of it is read", async () => {
    const taken = { bytes: 0 };
    const headers = {
      "content-type": `multipart/form-data; boundary=${boundary}`,
      "content-length": String(bytesMax + 1),
    };
    const request = post(streamed([big], taken), headers);
    expect(await refusalOf(() => readForm(request, { ...patient, bytesMax }))).toMatchObject({ status: 413 });
    expect(taken.bytes).toBe(0);
  });

  test("is refused while it is read, and the remainder is not read", async () => {
    using folder = spoolFolder();
    const taken = { bytes: 0 };
    const size = 10_000;
    const request = post(streamed(cutEvery(big, size), taken));
    const refused = await refusalOf(() => readForm(request, { ...patient, bytesMax, spoolFolder: folder.path }));
    expect(refused).toMatchObject({ code: "body_too_large", status: 413 });
    expect(taken.bytes).toBeLessThanOrEqual(bytesMax + 2 * size);
    expect([folder.open(), folder.files()]).toEqual([0, []]);
  });

  test("of exactly the bound is read", async () => {
    expect(await withForm(post(big), ({ size }) => size, { ...patient, bytesMax: big.length })).toBe(big.length);
  });
});

test("a form that is refused is not read to its end", async () => {
  const taken = { bytes: 0 };
  const body = formOf(
    fieldPart("model", "a"),
    rawPart("X: no disposition", ""),
    filePart("file", Buffer.alloc(3 * MB)),
  );
  await refusalOf(() => readForm(post(streamed(cutEvery(body, 1_000), taken)), patient));
  expect(taken.bytes).toBeLessThan(5_000);
});

/** Sends half of the body, and then nothing, or an error. */
function stalled(half: Uint8Array, error?: Error) {
  const { promise: reached, resolve } = Promise.withResolvers<void>();
  let sent = false;
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (!sent) {
          sent = true;
          controller.enqueue(half);
          return undefined;
        }
        resolve();
        if (error === undefined) return new Promise<void>(() => undefined);
        controller.error(error);
        return undefined;
      },
      cancel() {
        cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { body, reached, isCancelled: () => cancelled };
}

describe.each([
  ["in memory", big.subarray(0, 1_000)],
  ["in a file", big.subarray(0, 2 * MB)],
])("a body whose first half is %s and that does not arrive", (_title, half) => {
  test("is refused with 408 after its time-out, and read no further", async () => {
    using folder = spoolFolder();
    const { body, reached, isCancelled } = stalled(half);
    const watched = new Set<Parameters<FormLimits["ticker"]["watch"]>[0]>();
    const tick = (now: number): void => {
      for (const each of watched) each.onTick(now);
    };
    const ticker: FormLimits["ticker"] = {
      now: () => 100,
      watch: (each) => void watched.add(each),
      leave: (each) => void watched.delete(each),
    };
    const limited = { ...patient, arrivalMsMax: 5_000, ticker, spoolFolder: folder.path };
    const refusal = refusalOf(() => readForm(post(body), limited));
    await reached;
    tick(5_099);
    expect(watched.size).toBe(1);
    tick(5_100);
    expect(await refusal).toMatchObject({ code: "request_timeout", status: 408 });
    expect([watched.size, isCancelled(), folder.open(), folder.files()]).toEqual([0, true, 0, []]);
  });

  test("completely is the client's fault", async () => {
    using folder = spoolFolder();
    const { body } = stalled(half, new Error("connection reset"));
    const refused = await refusalOf(() => readForm(post(body), { ...patient, spoolFolder: folder.path }));
    expect(refused).toMatchObject({ code: "request_interrupted", status: 400 });
    expect([folder.open(), folder.files()]).toEqual([0, []]);
  });
});

describe("the temporary file", () => {
  test("has no name while it is open, and is closed with the form", async () => {
    using folder = spoolFolder();
    const form = await readForm(post(streamed([big])), { ...patient, spoolFolder: folder.path });
    expect([folder.open(), folder.files()]).toEqual([1, []]);
    await form.close();
    await form.close();
    expect([folder.open(), folder.files()]).toEqual([0, []]);
  });

  test("of a refused form is closed", async () => {
    using folder = spoolFolder();
    const body = big.subarray(0, big.length - 10);
    await refusalOf(() => readForm(post(body), { ...patient, spoolFolder: folder.path }));
    expect([folder.open(), folder.files()]).toEqual([0, []]);
  });

  test("is not needed for a small form", async () => {
    using folder = spoolFolder();
    const rest = limits.formMemoryBytesMax - formOf(filePart("file", "")).length;
    const small = formOf(filePart("file", Buffer.alloc(rest)));
    const open = (body: Uint8Array) =>
      withForm(post(streamed(cutEvery(body, 9_999))), () => folder.open(), { ...patient, spoolFolder: folder.path });
    expect(await open(small)).toBe(0);
    expect(await open(formOf(filePart("file", Buffer.alloc(rest + 1))))).toBe(1);
  });

  test("that cannot be written is the gateway's fault", async () => {
    const limited = { ...patient, spoolFolder: "/nowhere/at/all" };
    const refused = await refusalOf(() => readForm(post(big), limited));
    expect(refused).toMatchObject({ code: "storage_unavailable", status: 503, cause: { code: "ENOENT" } });
  });
});

test("nothing is read ahead of the stored bytes", async () => {
  using folder = spoolFolder();
  const taken = { bytes: 0 };
  const pieces = cutEvery(big, MB);
  const form = await readForm(post(streamed(pieces, taken)), { ...patient, spoolFolder: folder.path });
  expect(form.size).toBe(taken.bytes);
  await form.close();
});
