/** llhttp, the HTTP parser of Node.js, as a second opinion on replies. undici ships it as WebAssembly. */
import { createRequire } from "node:module";

/** The parts of a reply, in the order in which the parser reports them. */
export interface ParsedReply {
  /** The status of the final reply; undefined if its head is incomplete. */
  status: number | undefined;
  body: Buffer;
  /** Whether the reply has ended. */
  isComplete: boolean;
  /** Why the bytes are no reply. */
  error: string | undefined;
}

/** The used functions of the module. */
interface Exports {
  memory: WebAssembly.Memory;
  _initialize?: () => void;
  malloc: (size: number) => number;
  free: (pointer: number) => void;
  llhttp_alloc: (type: number) => number;
  llhttp_free: (parser: number) => void;
  llhttp_execute: (parser: number, data: number, length: number) => number;
  llhttp_finish: (parser: number) => number;
  llhttp_get_error_reason: (parser: number) => number;
}

const RESPONSE = 2;
const OK = 0;
/** A callback asked for it after the final reply. */
const PAUSED = 21;

let current: ParsedReply | undefined;

const bytesAt = (at: number, length: number): Buffer => Buffer.from(new Uint8Array(wasm.memory.buffer, at, length));

const imports = {
  wasm_on_message_begin: () => OK,
  wasm_on_url: () => OK,
  wasm_on_status: () => OK,
  wasm_on_header_field: () => OK,
  wasm_on_header_value: () => OK,
  wasm_on_headers_complete: (_parser: number, status: number) => {
    if (current !== undefined && status >= 200) current.status = status;
    return OK;
  },
  wasm_on_body: (_parser: number, at: number, length: number) => {
    if (current?.status !== undefined) current.body = Buffer.concat([current.body, bytesAt(at, length)]);
    return OK;
  },
  wasm_on_message_complete: () => {
    // An interim reply comes before the final one.
    if (current?.status === undefined) return OK;
    current.isComplete = true;
    return PAUSED;
  },
};

function load(): Exports {
  const require = createRequire(import.meta.url);
  const module = new WebAssembly.Module(require("undici/lib/llhttp/llhttp-wasm.js") as Buffer<ArrayBuffer>);
  return new WebAssembly.Instance(module, { env: imports }).exports as unknown as Exports;
}

const wasm = load();

/** Reads one reply from bytes after which the connection is closed. */
export function readByLlhttp(bytes: Uint8Array): ParsedReply {
  const reply: ParsedReply = { status: undefined, body: Buffer.alloc(0), isComplete: false, error: undefined };
  current = reply;
  const parser = wasm.llhttp_alloc(RESPONSE);
  const data = wasm.malloc(Math.max(bytes.length, 1));
  try {
    new Uint8Array(wasm.memory.buffer, data, bytes.length).set(bytes);
    let code = wasm.llhttp_execute(parser, data, bytes.length);
    if (code === OK) code = wasm.llhttp_finish(parser);
    if (code !== OK && code !== PAUSED) reply.error = reasonOf(parser);
    return reply;
  } finally {
    current = undefined;
    wasm.free(data);
    wasm.llhttp_free(parser);
  }
}

function reasonOf(parser: number): string {
  const at = wasm.llhttp_get_error_reason(parser);
  const memory = new Uint8Array(wasm.memory.buffer, at);
  return Buffer.from(memory.subarray(0, memory.indexOf(0))).toString() || "error";
}
