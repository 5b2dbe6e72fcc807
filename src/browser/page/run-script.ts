import type { CDPSession } from "playwright-core";

/** Bytes of the result of a script, as JSON. */
const VALUE_CHARACTERS_MAX = 1024 * 1024;

export interface ScriptReturn {
  /** As of `typeof`. */
  type: string;
  value: unknown;
}

/**
 * Runs a caller's script in the page and returns the value of its last expression, or its return value. `await` and `return` may be
 * at its top level. Rejects if it throws, or returns a value that JSON cannot express.
 */
export async function runScript(session: CDPSession, script: string): Promise<ScriptReturn> {
  const direct = await evaluate(session, script);
  const { result, exceptionDetails } = isReturnRefused(direct.exceptionDetails)
    ? await evaluate(session, `(async () => {\n${script}\n})()`, false)
    : direct;
  if (exceptionDetails !== undefined) {
    const { exception, text } = exceptionDetails;
    throw new Error(firstLine(exception?.description ?? text));
  }
  const { type, objectId } = result;
  if (objectId === undefined) return { type, value: bounded(result.value) };
  const found = await session.send("Runtime.callFunctionOn", {
    objectId,
    functionDeclaration: "function () { return JSON.stringify(this); }",
    returnByValue: true,
  });
  if (found.exceptionDetails !== undefined) throw new Error("its value cannot be written as JSON");
  const text: unknown = found.result.value;
  if (typeof text !== "string") return { type, value: undefined };
  if (text.length > VALUE_CHARACTERS_MAX) throw tooLong();
  return { type, value: JSON.parse(text) };
}

type Evaluated = Awaited<ReturnType<typeof evaluate>>;

function evaluate(session: CDPSession, expression: string, replMode = true) {
  return session.send("Runtime.evaluate", { expression, replMode, awaitPromise: true, userGesture: true });
}

function isReturnRefused(details: Evaluated["exceptionDetails"]): boolean {
  return details?.exception?.description?.startsWith("SyntaxError: Illegal return statement") === true;
}

function bounded(value: unknown): unknown {
  if (typeof value === "string" && value.length > VALUE_CHARACTERS_MAX) throw tooLong();
  return value;
}

const tooLong = (): Error => new Error(`its value is longer than ${VALUE_CHARACTERS_MAX} characters`);

const firstLine = (text: string): string => text.split("\n", 1)[0] ?? text;
