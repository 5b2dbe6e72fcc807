import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import fc from "fast-check";
import OpenAI, { toFile } from "openai";
import type { RandomBytes } from "../../core/index.ts";
import {
  bodyOf,
  boundary,
  bytesOf,
  cut,
  cutEvery,
  fieldPart,
  filePart,
  formOf,
  madeParts,
  patient,
  post,
  rawPart,
  refusalOf,
  streamed,
  withForm,
} from "./__fixtures__/forms.ts";
import { type FormEdit, type FormPart, type OutgoingForm, readForm, type ReceivedForm } from "./index.ts";

const MB = 1024 * 1024;
const audio = Buffer.from(Array.from({ length: 3 * MB }, (_, index) => (index * 7919) >> 3));

function partNamed(form: ReceivedForm, name: string): FormPart {
  const part = form.parts.find((candidate) => candidate.name === name);
  if (part === undefined) throw new Error(`no part ${name}`);
  return part;
}

async function sent(form: OutgoingForm): Promise<Buffer> {
  const bytes = await bytesOf(form.open());
  expect(bytes.length).toBe(form.length);
  return bytes;
}

/** Bun's reading of the form. */
async function entriesOf(form: OutgoingForm): Promise<Content[]> {
  return readByBun(await sent(form), form.contentType);
}

async function readByBun(body: Uint8Array, contentType: string) {
  // oxlint-disable-next-line typescript/no-deprecated -- Node.js' types warn of it; the test compares with it
  return entries(await new Response(body, { headers: { "content-type": contentType } }).formData());
}

/** Bun's types and Node.js' differ about who declares it. */
interface Entries {
  entries(): IterableIterator<[string, string | File]>;
}

type Content = [string, string | { name: string; bytes: Buffer }];

function entries(data: Entries): Promise<Content[]> {
  return Promise.all(
    [...data.entries()].map(async ([name, value]): Promise<Content> => [
      name,
      typeof value === "string" ? value : { name: value.name, bytes: Buffer.from(await value.arrayBuffer()) },
    ]),
  );
}

const contentsOf = (form: ReceivedForm) =>
  Promise.all(
    form.parts.map(async (part): Promise<Content> => [
      part.name,
      part.filename === undefined ? (part.text ?? "") : { name: part.filename, bytes: await form.read(part) },
    ]),
  );

describe.each([
  ["in memory", audio.subarray(0, 100_000)],
  ["in a file", audio],
])("a form %s", (_title, file) => {
  const parts = [fieldPart("model", "openai/whisper-1"), filePart("file", file), fieldPart("prompt", "é😀\r\n--\r\n")];
  const body = formOf(...parts);
  const received = () => post(streamed(cutEvery(body, 70_001)));

  test("returns its parts and their contents", () =>
    withForm(received(), async (form) => {
      expect(form.size).toBe(body.length);
      expect(form.parts).toEqual([
        { name: "model", filename: undefined, contentType: undefined, size: 16, text: "openai/whisper-1" },
        {
          name: "file",
          filename: "a.bin",
          contentType: "application/octet-stream",
          size: file.length,
          text: undefined,
        },
        { name: "prompt", filename: undefined, contentType: undefined, size: 12, text: "é😀\r\n--\r\n" },
      ]);
      const part = partNamed(form, "file");
      expect((await form.read(part)).equals(file)).toBe(true);
      expect((await bytesOf(form.stream(part))).equals(file)).toBe(true);
      expect((await form.read(partNamed(form, "model"))).toString()).toBe("openai/whisper-1");
    }));

  test("unedited is the received body, any number of times", () =>
    withForm(received(), async (form) => {
      const outgoing = form.edited([]);
      expect(outgoing.contentType).toBe(`multipart/form-data; boundary=${boundary}`);
      expect((await sent(outgoing)).equals(body)).toBe(true);
      expect((await sent(outgoing)).equals(body)).toBe(true);
    }));

  test("with edits differs in nothing else", () =>
    withForm(received(), async (form) => {
      const outgoing = form.edited([
        { remove: partNamed(form, "prompt") },
        { part: partNamed(form, "model"), text: "whisper-é" },
      ]);
      expect((await sent(outgoing)).equals(formOf(fieldPart("model", "whisper-é"), filePart("file", file)))).toBe(true);
    }));

  test("is sent by fetch with its length, unchanged", () =>
    withForm(received(), async (form) => {
      const outgoing = form.edited([]);
      using upstream = Bun.serve({
        port: 0,
        fetch: async (request) => {
          const { headers } = request;
          const hash = createHash("sha256")
            .update(await request.bytes())
            .digest("hex");
          return Response.json([headers.get("content-length"), headers.get("content-type"), hash]);
        },
      });
      const headers = { "content-type": outgoing.contentType, "content-length": String(outgoing.length) };
      const answer = await fetch(upstream.url, { method: "POST", headers, body: outgoing.open() });
      const hash = createHash("sha256").update(body).digest("hex");
      expect(await answer.json()).toEqual([String(body.length), outgoing.contentType, hash]);
    }));

  test("once closed fails current readers", async () => {
    const form = await readForm(received(), patient);
    const part = partNamed(form, "file");
    const stream = form.stream(part);
    const outgoing = form.edited([]);
    await form.close();
    expect(bytesOf(stream)).rejects.toThrow("closed");
    expect(form.read(part)).rejects.toThrow("closed");
    expect(form.fingerprint("")).rejects.toThrow("closed");
    expect(() => outgoing.open()).toThrow("closed");
  });

  test("has a fingerprint of its contents, independent of its boundary", async () => {
    const of = (bytes: Uint8Array, name: string, prefix = "op") =>
      withForm(post(bytes, { "content-type": `multipart/form-data; boundary=${name}` }), (form) =>
        form.fingerprint(prefix),
      );
    const other = Buffer.from(body.toString("latin1").replaceAll(boundary, "another"), "latin1");
    const changed = Buffer.from(body);
    const print = await of(body, boundary);
    expect(print).toMatch(/^[\w-]{43}$/);
    expect(await of(other, "another")).toBe(print);
    expect(await of(body, boundary, "other")).not.toBe(print);
    expect(await of(formOf(...parts.slice(1), fieldPart("model", "openai/whisper-1")), boundary)).not.toBe(print);
    expect(await of(formOf(fieldPart("model", "x"), ...parts.slice(1)), boundary)).not.toBe(print);
    changed.fill("!", body.indexOf(file) + file.length - 1, body.indexOf(file) + file.length);
    expect(await of(changed, boundary)).not.toBe(print);
  });
});

const randomBytes: RandomBytes = (size) => crypto.getRandomValues(new Uint8Array(size));

test("a new form contains fields and received files, and Bun reads it correctly", async () => {
  const named = fieldPart("image", audio, '; filename="x%22%0D%0Ay"\r\nContent-Type: audio/mpeg');
  const body = formOf(filePart("file", audio), named, fieldPart("model", "m"));
  await withForm(post(body), async (form) => {
    const outgoing = form.composed(
      [
        { name: "language", text: "de\r\né" },
        { name: 'a"b', file: partNamed(form, "image") },
        { name: "file", file: partNamed(form, "file") },
      ],
      randomBytes,
    );
    expect(outgoing.contentType).toMatch(/^multipart\/form-data; boundary=tollgate-[0-9a-z]{25}$/);
    const read = await withForm(
      post(await sent(outgoing), { "content-type": outgoing.contentType }),
      async (again) => ({
        parts: again.parts,
        contents: await contentsOf(again),
      }),
    );
    expect(read.parts.map(({ contentType }) => contentType)).toEqual([
      undefined,
      "audio/mpeg",
      "application/octet-stream",
    ]);
    expect(read.contents).toEqual([
      ["language", "de\r\né"],
      ['a"b', { name: 'x"\r\ny', bytes: audio }],
      ["file", { name: "a.bin", bytes: audio }],
    ]);
    const names = (await entriesOf(outgoing)).map(([name]) => name);
    expect(names).toHaveLength(3);
    expect(form.composed([], randomBytes).contentType).not.toBe(outgoing.contentType);
  });
});

describe("edits", () => {
  test("may add a part before all others", async () => {
    const body = formOf(fieldPart("language", "de"), filePart("file", audio));
    await withForm(post(body), async (form) => {
      const outgoing = form.edited([
        { add: "model", text: "whisper-1" },
        { part: partNamed(form, "language"), text: "fr" },
      ]);
      const rest = formOf(fieldPart("model", "whisper-1"), fieldPart("language", "fr"), filePart("file", audio));
      expect((await sent(outgoing)).toString("latin1").toLowerCase()).toBe(rest.toString("latin1").toLowerCase());
      const text = `x\r\n--${boundary}`;
      expect(() => form.edited([{ add: "model", text }])).toThrow("would hold the boundary");
    });
  });

  test("of random parts of random forms touch nothing else", async () => {
    const property = fc.asyncProperty(
      madeParts,
      fc.array(fc.constantFrom("keep", "replace", "remove"), { minLength: 6, maxLength: 6 }),
      fc.array(fc.nat(), { maxLength: 6 }),
      async (parts, fates, offsets) => {
        const fateOf = (index: number) => fates[index] ?? "keep";
        const expected = parts.flatMap((part, index) => {
          if (fateOf(index) === "remove") return [];
          return fateOf(index) === "replace" ? [{ ...part, content: Buffer.from("neu: é") }] : [part];
        });
        await withForm(post(streamed(cut(bodyOf(parts), offsets))), async (form) => {
          const edits = form.parts.flatMap((part, index): FormEdit[] => {
            if (fateOf(index) === "remove") return [{ remove: part }];
            return fateOf(index) === "replace" ? [{ part, text: "neu: é" }] : [];
          });
          expect(await sent(form.edited(edits))).toEqual(bodyOf(expected));
        });
      },
    );
    await fc.assert(property, { numRuns: 100 });
  });

  test("keep the bytes around the parts", async () => {
    const around = (...parts: Buffer[]) =>
      Buffer.concat([Buffer.from("before\r\n"), formOf(...parts), Buffer.from("after")]);
    const body = around(fieldPart("a", "1"), fieldPart("b", "2"));
    await withForm(post(body), async (form) => {
      expect(await sent(form.edited([{ remove: partNamed(form, "a") }]))).toEqual(around(fieldPart("b", "2")));
      expect(await sent(form.edited(form.parts.map((part) => ({ remove: part }))))).toEqual(around());
    });
  });

  test("keep a part's Content-Length correct", async () => {
    const disposition = 'Content-Disposition: form-data; name="model"';
    const sized = (text: string) => rawPart(`Content-Length: ${text.length}\r\n${disposition}`, text);
    await withForm(post(formOf(sized("openai/whisper-1"))), async (form) => {
      const outgoing = form.edited([{ part: partNamed(form, "model"), text: "m" }]);
      expect(await sent(outgoing)).toEqual(formOf(sized("m")));
    });
  });

  test("cannot begin a part with the bytes after the prefix", async () => {
    // The boundary within a line is refused in received forms; an edit must not introduce it.
    await withForm(post(formOf(fieldPart("model", "openai/m"))), async (form) => {
      const text = `--${boundary}\r\nContent-Disposition: form-data; name="n"\r\n\r\n10`;
      const refused = await refusalOf(() => form.edited([{ part: partNamed(form, "model"), text }]));
      expect(refused).toMatchObject({ code: "validation_failed", param: "model" });
    });
  });

  test("apply to the form's own parts only", () =>
    withForm(post(formOf(fieldPart("a", "1"))), (form) =>
      withForm(post(formOf(fieldPart("a", "1"))), async (other) => {
        const foreign = partNamed(other, "a");
        expect(() => form.edited([{ remove: foreign }])).toThrow("another form");
        expect(() => form.stream(foreign)).toThrow("another form");
      }),
    ));
});

describe("forms of other libraries", () => {
  test("made by FormData are read as Bun reads them", async () => {
    const name = fc
      .string({ unit: "grapheme", minLength: 1, maxLength: 10 })
      // Refused names, and quotes, which Bun escapes but does not unescape.
      .filter((made) => !/["\\[]|=\?|^\s|\s$/.test(made) && made.isWellFormed());
    const value = fc.oneof(fc.string({ unit: "grapheme" }), fc.uint8Array());
    const made = fc.uniqueArray(fc.tuple(name, value), { selector: ([key]) => key.toLowerCase(), maxLength: 5 });
    const property = fc.asyncProperty(made, async (pairs) => {
      const data = new FormData();
      for (const [key, content] of pairs) {
        if (typeof content === "string") data.append(key, content);
        else data.append(key, new Blob([content]), `${key}.bin`);
      }
      const whole = new Response(data);
      const contentType = whole.headers.get("content-type") ?? "";
      const body = await whole.bytes();
      const read = await withForm(post(body, { "content-type": contentType }), contentsOf);
      expect(read).toEqual(await readByBun(body, contentType));
    });
    await fc.assert(property, { numRuns: 200 });
  });

  test("made by the openai SDK are read, and edited", async () => {
    const received: ReceivedForm[] = [];
    const client = new OpenAI({
      apiKey: "unused",
      fetch: async (url, init) => {
        received.push(await readForm(url instanceof Request ? url : new Request(String(url), init), patient));
        return Response.json({ text: "" });
      },
    });
    const file = await toFile(audio, "übung.mp3", { type: "audio/mpeg" });
    await client.audio.transcriptions.create({
      file,
      model: "openai/whisper-1",
      timestamp_granularities: ["word", "segment"],
    });
    const [form] = received;
    if (form === undefined) throw new Error("nothing was received");
    expect(form.parts.map(({ name, filename, text }) => [name, filename, text])).toEqual([
      ["file", "übung.mp3", undefined],
      ["model", undefined, "openai/whisper-1"],
      ["timestamp_granularities[]", undefined, "word"],
      ["timestamp_granularities[]", undefined, "segment"],
    ]);
    const outgoing = await entriesOf(form.edited([{ part: partNamed(form, "model"), text: "whisper-1" }]));
    expect(new Map(outgoing).get("model")).toBe("whisper-1");
    expect(new Map(outgoing).get("file")).toEqual({ name: "übung.mp3", bytes: audio });
    await form.close();
  });
});
