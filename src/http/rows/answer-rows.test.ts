import { expect, test } from "bun:test";
import { connect } from "node:net";
import { setImmediate } from "node:timers/promises";
import { answerRows } from "./answer-rows.ts";
import { chunksOf } from "./row-texts.ts";

const columns = ["id", "text"];

async function* partsOf(...parts: object[][]): AsyncIterable<object[]> {
  for (const part of parts) yield await Promise.resolve(part);
}

const textOf = async (format: "csv" | "jsonl", ...parts: object[][]): Promise<string> =>
  (await answerRows(chunksOf(partsOf(...parts), { format, columns }), { name: "rows", format })).text();

test("the line of names comes once, also if there are no rows", async () => {
  expect(await textOf("csv", [], [{ id: 1, text: "a" }], [], [{ id: 2, text: 'b,"c"' }])).toBe(
    'id,text\n1,a\n2,"b,""c"""\n',
  );
  expect(await textOf("csv")).toBe("id,text\n");
  expect(await textOf("csv", [])).toBe("id,text\n");
  expect(await textOf("jsonl", [], [{ id: 1 }])).toBe('{"id":1}\n');
  expect(await textOf("jsonl")).toBe("");
});

test("each chunk has memory of its own", async () => {
  const rows = Array.from({ length: 3_000 }, (_, id) => ({ id, text: "x".repeat(100) }));
  const chunks = await Array.fromAsync(chunksOf(partsOf(rows), { format: "jsonl", columns }));
  expect(chunks.length).toBeGreaterThan(2);
  expect(new Set(chunks.map(({ buffer }) => buffer)).size).toBe(chunks.length);
  expect(chunks.every(({ buffer, byteLength }) => buffer.byteLength === byteLength)).toBe(true);
});

test.each(["=1+1", "+1", "-1", "@a", "\t=1", "\r=1", "＝1"])("%j is no formula", async (text) => {
  expect((await textOf("csv", [{ id: -1e-9, text }])).split("\n")[1]?.replaceAll('"', "")).toStartWith(
    "-0.000000001,'",
  );
});

test("no more is read than the client takes", async () => {
  const [parts, rows] = [200, 500];
  let read = 0;
  const row = { id: 1, text: "x".repeat(1_000) };
  const bytesOfPart = rows * (JSON.stringify(row).length + 1);
  const endless = async function* () {
    for (; read < parts; read += 1) yield await Promise.resolve(Array.from({ length: rows }, () => row));
  };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => answerRows(chunksOf(endless(), { format: "jsonl", columns }), { name: "rows", format: "jsonl" }),
  });
  const socket = connect(server.port ?? 0, "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
  let [received, ahead] = [0, 0];
  for await (const chunk of socket) {
    received += (chunk as Buffer).length;
    // The server goes on as far as it will.
    for (let turn = 0; turn < 5; turn += 1) await setImmediate();
    ahead = Math.max(ahead, read * bytesOfPart - received);
  }
  await server.stop();
  expect(received).toBeGreaterThan(parts * bytesOfPart);
  // The buffers of the two sockets are among it.
  expect(ahead).toBeLessThan(24e6);
});
