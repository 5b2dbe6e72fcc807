/** The list of a server's tools as those see it who have one access to it: cached, and read again behind the callers. */
import { allows, type Clock, GatewayError, type JsonObject, objectsOf, Slices, stringOf } from "../core/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { cleanObject } from "./clean-result.ts";
import { needsOldTask, validDefinition, validInputSchema } from "./definitions.ts";
import { headerMembers, type HeaderMember, withoutHeaderMembers } from "./header-members.ts";
import { ServerError } from "./client/server-answer.ts";
import { listPages } from "./list-pages.ts";
import { shownCapabilities } from "./client/session.ts";
import type { ToolPins } from "./pins/tool-pins.ts";
import type { ServerAccess } from "./server-access.ts";

/** How long a list is taken for current, and how often one that could not be read is asked for again. */
const FRESH_MS = 60_000;
const RETRY_MS = 10_000;

/** Before a list is read again because its server says that it has changed. */
const CHANGED_MS_MIN = 2_000;

/** How long a caller waits for a list that was never read, by default. */
const FIRST_LIST_MS_MAX = 2_000;
const LIST_MS_MAX = 30_000;

/** Bounds of a list, all of its pages together. */
const PAGES_MAX = 100;
const TOOLS_MAX = 2_000;
const LIST_BYTES_MAX = 4 * 1024 * 1024;

const TOOL_NAME = /^[A-Za-z0-9_.-]{1,128}$/;

/** A tool as its server describes it, cleaned. */
export interface ServerTool {
  name: string;
  definition: JsonObject;
  /** Arguments that a stateless server wants as headers too. */
  headers: readonly HeaderMember[];
}

export interface ServerListOptions {
  name: string;
  /** Undefined if its tools may change. */
  pins: ToolPins | undefined;
  /** Globs of its own names; those with `!` are exceptions. Undefined: all. */
  tools: readonly string[] | undefined;
  /** How long a caller waits for a list that was never read; 2 seconds by default. */
  firstListMsMax?: number;
  /** The longest list, all of its pages together; 4 MiB by default. */
  listBytesMax?: number;
  clock: Clock;
  logger: Logger;
  /** Resolves after so many milliseconds. */
  wait: (milliseconds: number) => Promise<void>;
}

export class ServerList {
  readonly #options: ServerListOptions;
  readonly #access: ServerAccess;
  #list: ReadonlyMap<string, ServerTool> | undefined;
  #reading: Promise<void> | undefined;
  /** When the last list was asked for, and when it was there or had failed. */
  #askedAt = 0;
  #readAt = 0;
  #isAvailable = true;
  /** Why the last reading was refused, if its caller can do something about it. */
  #refusal: GatewayError | undefined;
  /** Whether an approval is waited for. */
  #hasChanges = false;
  readonly #watchers = new Set<() => void>();
  #isRefreshWanted = false;
  #isRefreshComing = false;

  constructor(options: ServerListOptions, access: ServerAccess) {
    this.#options = options;
    this.#access = access;
  }

  /** Undefined unless the server has refused the list for want of credentials. */
  get refusal(): GatewayError | undefined {
    return this.#refusal;
  }

  /** Its tools by name; undefined if it has not listed them so far. A caller waits for the first list alone, and not for long. */
  async tools(): Promise<ReadonlyMap<string, ServerTool> | undefined> {
    const reading = this.#refresh();
    if (this.#list === undefined && reading !== undefined) {
      const waited = this.#options.clock() - this.#askedAt;
      const { wait, firstListMsMax = FIRST_LIST_MS_MAX } = this.#options;
      if (waited < firstListMsMax) await Promise.race([reading, wait(firstListMsMax - waited)]);
    }
    return this.#isAvailable ? this.#list : undefined;
  }

  /** Calls back when the tools that callers see have changed. Returns a function that ends that. */
  onChange(callback: () => void): () => void {
    this.#watchers.add(callback);
    return () => this.#watchers.delete(callback);
  }

  /** The server says that the list has changed: it is read again, a while after the last reading. */
  refresh(): void {
    this.#isRefreshWanted = true;
    if (this.#reading === undefined) void this.#refreshSoon();
  }

  async #refreshSoon(): Promise<void> {
    if (this.#isRefreshComing) return;
    this.#isRefreshComing = true;
    const { clock, wait } = this.#options;
    const age = clock() - this.#readAt;
    if (age >= 0 && age < CHANGED_MS_MIN) await wait(CHANGED_MS_MIN - age);
    this.#isRefreshComing = false;
    await this.#refresh();
  }

  /** Reads the list again if that is due. */
  #refresh(): Promise<void> | undefined {
    const now = this.#options.clock();
    const age = now - this.#readAt;
    const isDue =
      (this.#isRefreshWanted && age >= CHANGED_MS_MIN) ||
      this.#readAt === 0 ||
      age >= (this.#isAvailable && !this.#hasChanges ? FRESH_MS : RETRY_MS) ||
      age < 0;
    if (this.#reading === undefined && isDue) {
      this.#askedAt = now;
      this.#isRefreshWanted = false;
      this.#reading = this.#read().finally(() => {
        this.#reading = undefined;
        if (this.#isRefreshWanted) void this.#refreshSoon();
      });
    }
    return this.#reading;
  }

  async #read(): Promise<void> {
    const { name, clock, logger } = this.#options;
    const before = this.#isAvailable ? this.#list : undefined;
    try {
      const listed = await this.#readPages();
      const confirmed = (await this.#options.pins?.confirmed(name, this.#access.owner, listed)) ?? listed;
      // The index of tools is not made again for a list that it knows.
      const isSame = this.#list !== undefined && (await areSame(confirmed, this.#list));
      if (!isSame) this.#list = confirmed;
      this.#hasChanges = confirmed.size < listed.size;
      this.#isAvailable = true;
      this.#refusal = undefined;
    } catch (err) {
      // A call may find out that the server is there, before its list does.
      this.#refusal = err instanceof GatewayError && err.code === "connection_required" ? err : undefined;
      if (this.#isAvailable) logger.warn({ server: name, ...factsOf(err) }, "a server of tools does not list them");
      this.#isAvailable = false;
    }
    this.#readAt = clock();
    const after = this.#isAvailable ? this.#list : undefined;
    if (after !== before) for (const callback of this.#watchers) callback();
  }

  async #readPages(): Promise<ReadonlyMap<string, ServerTool>> {
    const { listBytesMax = LIST_BYTES_MAX } = this.#options;
    const tools = new Map<string, ServerTool>();
    const slices = new Slices();
    let bytes = 0;
    const ask = (params: JsonObject): Promise<JsonObject> =>
      this.#access.lists.request({
        method: "tools/list",
        params,
        capabilities: shownCapabilities,
        timeoutMs: LIST_MS_MAX,
        bytesMax: listBytesMax - bytes,
      });
    for await (const page of listPages(PAGES_MAX, ask)) {
      bytes += JSON.stringify(page).length;
      if (bytes > listBytesMax) throw new Error("its list is too long");
      for (const one of objectsOf(page["tools"])) {
        this.#add(tools, one);
        if (slices.isOver) await slices.next();
      }
      if (tools.size >= TOOLS_MAX) break;
    }
    return tools;
  }

  /** A tool whose definition is no valid one is left out, and so is a second one of the same name, or one that nobody could call. */
  #add(tools: Map<string, ServerTool>, given: JsonObject): void {
    const { tools: globs } = this.#options;
    const name = stringOf(given["name"]);
    const schema = validInputSchema(given["inputSchema"]);
    if (!TOOL_NAME.test(name) || schema === undefined || tools.has(name) || tools.size >= TOOLS_MAX) return;
    if (needsOldTask(given) || (globs !== undefined && !allows(globs, name))) return;
    const headers = headerMembers(schema);
    if (headers === undefined) return;
    const shown = { ...validDefinition(given), inputSchema: withoutHeaderMembers(schema) };
    tools.set(name, { name, definition: cleanObject(shown, this.#access.secrets()), headers });
  }
}

/** For the log: a server may write anything into its refusal, also the credentials that it got. */
function factsOf(err: unknown): { code: number } | { err: unknown } {
  return err instanceof ServerError ? { code: err.code } : { err };
}

type ToolList = ReadonlyMap<string, ServerTool>;

/** Whether two lists have the same tools in the same order. A long list is compared with pauses for other callers. */
async function areSame(one: ToolList, other: ToolList): Promise<boolean> {
  if (one.size !== other.size) return false;
  const slices = new Slices();
  const others = other.values();
  for (const tool of one.values()) {
    if (!Bun.deepEquals(tool, others.next().value)) return false;
    if (slices.isOver) await slices.next();
  }
  return true;
}
