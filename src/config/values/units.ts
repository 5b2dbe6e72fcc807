import { z } from "zod";

const sizeUnits: Record<string, number> = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };
const durationUnits: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function unitReader(units: Record<string, number>, pattern: RegExp, expected: string) {
  return z
    .union([z.string().regex(pattern, expected), z.number().int().positive(expected)])
    .transform((value): number => {
      if (typeof value === "number") return value;
      const [, amount = "", unit = ""] = pattern.exec(value) ?? [];
      return Number(amount) * (units[unit] ?? 1);
    });
}

/** Reads `32MiB`, `512KiB` or a plain number of bytes. */
export const byteSize = unitReader(
  sizeUnits,
  /^([1-9]\d*)(B|KiB|MiB|GiB)$/,
  "a size such as 32MiB, 512KiB or a number of bytes",
);

/** Reads `30s`, `5m`, `250ms` or a plain number of milliseconds, as milliseconds. */
export const duration = unitReader(
  durationUnits,
  /^([1-9]\d*)(ms|s|m|h|d)$/,
  "a duration such as 30s, 5m, 250ms or a number of milliseconds",
);

/** Reads `30d`, `12h` … as milliseconds. Throws a `RangeError` with examples if the text is no duration. */
export function parseDuration(text: string): number {
  const parsed = duration.safeParse(text);
  if (!parsed.success) throw new RangeError(`"${text}" is no duration: write 30d, 12h, 15m or 30s`);
  return parsed.data;
}
