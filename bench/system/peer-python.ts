import { findPython } from "../../test/kit/python.ts";

/** The interpreter that has a peer's package, or why there is none. */
export function peerPython(peer: string): ReturnType<typeof findPython> {
  return findPython(`bench/system/requirements-${peer}.txt`).catch((error: unknown) => ({
    missing: String(error).slice(0, 200),
  }));
}
