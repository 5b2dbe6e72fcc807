/**
 * Pinned definitions: a server that changes a tool, after people have looked at it, loses that tool until an operator approves the
 * change. The storage is asked when a list is read, never by a call.
 */
import type { ActOptions, AuditLog } from "../../audit/index.ts";
import { type Clock, type JsonObject, objectOf } from "../../core/index.ts";
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
    const before = await store.of(server, owner);
    const texts = new Map([...tools].map(([name, tool]) => [name, textOf(tool)]));
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

  /** Returns whether there were new ones. */
  async #add(
    before: readonly PinnedTool[],
    { server, owner, texts }: { server: string; owner: string; texts: ReadonlyMap<string, string> },
  ): Promise<boolean> {
    const { store, clock, logger } = this.#options;
    const known = new Set(before.map(({ tool }) => tool));
    const added = [...texts].filter(([tool]) => !known.has(tool));
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

function textOf({ definition, headers }: Pinnable): string {
  return JSON.stringify(sorted({ ...definition, headers }));
}

/** Members in the order of their names, since a server may change that without a change. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  const object = objectOf(value);
  if (object === undefined) return value;
  const keys = Object.keys(object).toSorted();
  return Object.fromEntries(keys.map((key) => [key, sorted(object[key])]));
}

/** Approves the changes of a server's tools, or of one tool. Resolves with the tools that were approved. */
export function approveTools(
  log: AuditLog,
  { server, tool }: { server: string; tool?: string | undefined },
  options: ActOptions,
): Promise<PinnedTool[]> {
  return log.act(options, function* (note) {
    const changed = (yield* changedPins(server)).filter((pin) => tool === undefined || pin.tool === tool);
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
