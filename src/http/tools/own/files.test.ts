import { describe, expect, test } from "bun:test";
import { MemoryBudget } from "../../../streaming/index.ts";
import { withFiles } from "./files.ts";
import type { OwnCall } from "./own-tool.ts";

const MIB = 1024 * 1024;
const picture = `data:image/png;base64,${Buffer.alloc(3 * MIB, 7).toString("base64")}`;

function callWith(memory: MemoryBudget): OwnCall {
  return { services: { memory } } as unknown as OwnCall;
}

describe("files of a call", () => {
  test("are decoded with a turn for others between them, and their memory is counted until the work has ended", async () => {
    const memory = new MemoryBudget(100 * MIB);
    let [turns, runs] = [0, true];
    const beat = (): void => {
      turns += 1;
      if (runs) setImmediate(beat);
    };
    setImmediate(beat);
    const at: number[] = [];
    const sizes = await withFiles(callWith(memory), async (read) => {
      const files = [picture, picture, picture].map(async (each) => {
        const file = await read(each, "image");
        at.push(turns);
        return file;
      });
      const all = await Promise.all(files);
      expect(memory.used).toBeGreaterThanOrEqual(9 * MIB);
      return all.map(({ bytes, mediaType }) => [bytes.length, mediaType]);
    });
    runs = false;
    expect(sizes).toEqual(Array.from({ length: 3 }, () => [3 * MIB, "image/png"]));
    expect(new Set(at).size).toBe(3);
    expect(memory.used).toBe(0);
  });

  test("for which there is no memory are refused before they are decoded", async () => {
    const memory = new MemoryBudget(7 * MIB);
    const read = withFiles(callWith(memory), (file) =>
      Promise.all([picture, picture, picture].map((each) => file(each, "image"))),
    );
    expect(await read.catch((thrown: Error) => thrown)).toMatchObject({ code: "memory_exhausted" });
    expect(memory.used).toBe(0);
  });

  test("that are none are refused by the name of their argument", async () => {
    for (const given of ["", 7, "not base64!", "data:image/png;base64,"]) {
      const read = withFiles(callWith(new MemoryBudget(MIB)), (file) => file(given, "mask"));
      expect(await read.catch((thrown: Error) => thrown)).toMatchObject({ code: "validation_failed", param: "mask" });
    }
  });
});
