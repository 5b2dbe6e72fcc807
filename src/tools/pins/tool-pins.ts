/**
 * Pinned definitions: a server that changes a tool, after people have looked at it, loses that tool until an operator approves the
 * change. The storage is asked when a list is read, never by a call.
 */
import { createHash } from "node:crypto";
import type { ActOptions, AuditLog } from "../../audit/index.ts";
import { type Clock, type JsonObject, objectOf, Slices } from "../../core/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import { approvePin, changedPins } from "./sql/open.ts";
import type { PinnedTool, PinStore } from "./store.ts";

/** A tool that can be pinned. */
interface Pinnable {
  definition: JsonObject;
  headers: unknown;
}

export interface ToolPinsOptions {
  store: PinStore;
  clock: Clock;
  logger: Logger;
}

/**
 * Among the pins of a server, its authorization server: the only one that gets a configured secret. No tool has such a name.
 */
const ISSUER_PIN = "@issuer";

/** Tools of a server that are pinned, also those that it does not list any more, and their definitions; others are not offered. */
const PINS_MAX = 10_000;
const PINNED_CHARACTERS_MAX = 16 * 1024 * 1024;

export class ToolPins {
  readonly #options: ToolPinsOptions;

  constructor(options: ToolPinsOptions) {
    this.#options = options;
  }

  /** The tools whose definitions are pinned as they are. New ones are pinned. Rejects if the storage does not answer. */
  async confirmed<Tool extends Pinnable>(
    server: string,
    owner: string,
    tools: ReadonlyMap<string, Tool>,
  ): Promise<Map<string, Tool>> {
    const { store } = this.#options;
    const before = (await store.of(server, owner)).filter(({ tool }) => tool !== ISSUER_PIN);
    const texts = await textsOf(tools);
    const added = await this.#add(before, { server, owner, texts });
    // Another process may have pinned the same tool at the same moment.
    const pins = new Map((added ? await store.of(server, owner) : before).map((pin) => [pin.tool, pin]));
    const confirmed = new Map<string, Tool>();
    for (const [name, tool] of tools) {
      const pin = pins.get(name);
      if (pin === undefined) continue;
      const text = texts.get(name);
      if (pin.definition === text) confirmed.set(name, tool);
      await this.#noteOffer(pin, pin.definition === text ? undefined : text);
    }
    return confirmed;
  }

  /** Whether the server's authorization server is the pinned one. The first is pinned. */
  async confirmIssuer(server: string, issuer: string): Promise<boolean> {
    const { store, clock, logger } = this.#options;
    const definition = JSON.stringify({ issuer });
    const pinned = async (): Promise<PinnedTool | undefined> =>
      (await store.of(server, "")).find(({ tool }) => tool === ISSUER_PIN);
    let pin = await pinned();
    if (pin === undefined) {
      await store.add([{ server, owner: "", tool: ISSUER_PIN, definition, offered: undefined, seenAt: clock() }]);
      // Another process may have been faster.
      pin = await pinned();
    }
    const isSame = pin?.definition === definition;
    const offered = isSame ? undefined : definition;
    if (pin !== undefined && pin.offered !== offered) {
      await store.offer(pin, offered);
      if (!isSame) logger.warn({ server, issuer }, "a server names another authorization server, which is not asked");
    }
    return isSame;
  }

  /** Returns whether there were new ones. */
  async #add(
    before: readonly PinnedTool[],
    { server, owner, texts }: { server: string; owner: string; texts: ReadonlyMap<string, string> },
  ): Promise<boolean> {
    const { store, clock, logger } = this.#options;
    const known = new Set(before.map(({ tool }) => tool));
    const fresh = [...texts].filter(([tool]) => !known.has(tool));
    const added = withinBounds(fresh, before);
    if (added.length < fresh.length)
      logger.warn({ server, count: fresh.length - added.length }, "a server has had too many names for tools");
    if (added.length === 0) return false;
    const seenAt = clock();
    await store.add(
      added.map(([tool, definition]) => ({ server, owner, tool, definition, offered: undefined, seenAt })),
    );
    const names = added.slice(0, 20).map(([tool]) => tool);
    if (before.length > 0) logger.info({ server, count: added.length, tools: names }, "a server has new tools");
    return true;
  }

  async #noteOffer(pin: PinnedTool, offered: string | undefined): Promise<void> {
    if (pin.offered === offered) return;
    const { server, tool } = pin;
    await this.#options.store.offer(pin, offered);
    if (offered !== undefined)
      this.#options.logger.warn(
        { server, tool },
        "a server has changed a tool, which is not offered until it is approved",
      );
  }
}

/** As many of the new definitions as there is room for beside the pinned ones. */
function withinBounds(fresh: readonly [string, string][], before: readonly PinnedTool[]): [string, string][] {
  let characters = before.reduce((sum, { definition }) => sum + definition.length, 0);
  return fresh.slice(0, Math.max(PINS_MAX - before.length, 0)).filter(([, definition]) => {
    characters += definition.length;
    return characters <= PINNED_CHARACTERS_MAX;
  });
}

/** Those of a long list are made with pauses for other callers. */
async function textsOf(tools: ReadonlyMap<string, Pinnable>): Promise<Map<string, string>> {
  const slices = new Slices();
  const texts = new Map<string, string>();
  for (const [name, tool] of tools) {
    texts.set(name, textOf(tool));
    if (slices.isOver) await slices.next();
  }
  return texts;
}

/** Icons are for people who look at a list: they change with a server's address for them, and no model reads them. */
function textOf({ definition, headers }: Pinnable): string {
  const { icons: _icons, ...rest } = definition;
  return JSON.stringify(sorted({ ...rest, headers }));
}

/** Members in the order of their names, since a server may change that without a change. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  const object = objectOf(value);
  if (object === undefined) return value;
  const keys = Object.keys(object).toSorted();
  return Object.fromEntries(keys.map((key) => [key, sorted(object[key])]));
}

/** A name for a definition that is offered instead of the pinned one. */
export function changeHash(offered: string): string {
  return createHash("sha256").update(offered).digest("hex").slice(0, 12);
}

interface Approval {
  server: string;
  /** Without it, all of the server's tools. Its authorization server is approved by name alone. */
  tool?: string | undefined;
  /** Only the change with this hash, see `changeHash`. */
  change?: string | undefined;
}

/** Approves the changes of a server's tools, or of one tool. Resolves with the tools that were approved. */
export function approveTools(
  log: AuditLog,
  { server, tool, change }: Approval,
  options: ActOptions,
): Promise<PinnedTool[]> {
  return log.act(options, function* (note) {
    const changed = (yield* changedPins(server)).filter(
      (pin) =>
        (tool === undefined ? pin.tool !== ISSUER_PIN : pin.tool === tool) &&
        (change === undefined || changeHash(pin.offered ?? "") === change),
    );
    const approved: PinnedTool[] = [];
    for (const pin of changed) {
      // Another change may be offered by now.
      if (!(yield* approvePin(pin))) continue;
      approved.push(pin);
      const name = `${server}__${pin.tool}`;
      note({
        act: "tool.approve",
        target: `tool:${name}`,
        before: { definition: pin.definition },
        after: { definition: pin.offered, ...(pin.owner !== "" && { user_id: pin.owner }) },
      });
    }
    return approved;
  });
}
