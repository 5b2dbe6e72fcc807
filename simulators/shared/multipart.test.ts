import { describe, expect, test } from "bun:test";

import { formBody, isFile } from "./form.ts";
import { isFormType, parseForm } from "./multipart.ts";

async function encode(form: FormData): Promise<[type: string, body: Buffer]> {
  const response = new Response(form);
  return [response.headers.get("content-type") ?? "", Buffer.from(await response.arrayBuffer())];
}

const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => (index * 7) % 256);

async function sample(): Promise<[type: string, body: Buffer]> {
  const form = new FormData();
  form.append("model", "m");
  form.append("n", "2");
  form.append("tags[]", "a");
  form.append("tags[]", "b");
  form.append("rule[type]", "server_vad");
  form.append("rule[silence]", "200");
  form.append("file", new File([bytes], 'a "quoted" näme.bin', { type: "audio/wav" }));
  return encode(form);
}

describe("a form", () => {
  test("keeps its parts in order and its files byte by byte", async () => {
    const [type, body] = await sample();
    expect(isFormType(type)).toBe(true);
    const parts = parseForm(type, body) ?? [];
    expect(parts.map(({ name }) => name)).toEqual([
      "model",
      "n",
      "tags[]",
      "tags[]",
      "rule[type]",
      "rule[silence]",
      "file",
    ]);
    const file = parts.at(-1);
    expect(file?.contentType).toBe("audio/wav");
    expect(file?.filename).toContain("näme.bin");
    expect(Buffer.from(file?.bytes ?? []).equals(bytes)).toBe(true);
    expect(file?.sha256).toBe(new Bun.CryptoHasher("sha256").update(bytes).digest("hex"));
  });

  test("becomes the equivalent JSON body", async () => {
    const parts = parseForm(...(await sample())) ?? [];
    const body = formBody(parts, { n: "number", tags: "list", rule: "json", file: "file" });
    expect(body).toMatchObject({ model: "m", n: 2, tags: ["a", "b"], rule: { type: "server_vad", silence: 200 } });
    expect(isFile(body["file"])).toBe(true);
  });

  test("that is truncated, or has no boundary, is invalid", async () => {
    const [type, body] = await sample();
    expect(parseForm(type, body.subarray(0, body.length - 8))).toBeNull();
    expect(parseForm("multipart/form-data", body)).toBeNull();
    expect(parseForm("multipart/form-data; boundary=other", body)).toBeNull();
    expect(parseForm("multipart/form-data; boundary=x", Buffer.from("--x\r\n\r\nnameless\r\n--x--"))).toBeNull();
  });
});
