/** The log for people: a line per event in plain text. Nothing in a field can begin another line, or control a terminal. */
import { z } from "zod";
import type { LineBuffer } from "./line-buffer.ts";

const eventSchema = z.looseObject({ level: z.number(), time: z.string(), msg: z.string() });

const levelNames: Readonly<Record<number, string>> = { 10: "TRACE", 20: "DEBUG", 30: "INFO", 40: "WARN", 50: "ERROR" };

const PLAIN = /^[\w.:/@%+*-]+$/;

// oxlint-disable-next-line no-control-regex -- control characters are what it is about
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;

/** Takes lines of JSON, as the log writes them. */
export class TextLines implements Pick<LineBuffer, "write" | "writeObject" | "flush"> {
  readonly #lines: LineBuffer;

  constructor(lines: LineBuffer) {
    this.#lines = lines;
  }

  write(line: string): void {
    this.#lines.write(textOf(line));
  }

  writeObject(before: string, object: string, behind: string): void {
    this.write(`${before}${object === "{}" ? "" : `,${object.slice(1, -1)}`}${behind}`);
  }

  flush(): void {
    this.#lines.flush();
  }
}

/** `2026-11-27T10:00:00.000Z INFO  call request_id=req_1 status=200`, and the stack of an error on lines of its own. */
function textOf(json: string): string {
  const { level, time, msg, ...fields } = eventSchema.parse(JSON.parse(json));
  const stacks: string[] = [];
  const shown = Object.entries(fields).map(([name, value]) => {
    if (typeof value !== "object" || value === null || !("stack" in value)) return `${name}=${valueText(value)}`;
    const { stack, ...rest } = value;
    stacks.push(...String(stack).split("\n"));
    return `${name}=${valueText(rest)}`;
  });
  const head = [time, (levelNames[level] ?? String(level)).padEnd(5), msg, ...shown].map(withoutControls).join(" ");
  return [head, ...stacks.map((line) => `    ${withoutControls(line.trim())}`), ""].join("\n");
}

function valueText(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return PLAIN.test(text) ? text : JSON.stringify(value);
}

function withoutControls(text: string): string {
  return text.replace(CONTROL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
