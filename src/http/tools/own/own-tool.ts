/** The gateway's own tools: each is an operation of one of its routes, with that route's hold, limits and record. */
import type { z } from "zod";
import type { Principal } from "../../../auth/index.ts";
import type { JsonObject } from "../../../core/index.ts";
import type { ToolAnswer, ToolCall, ToolDefinition } from "../../../mcp/index.ts";
import type { McpServices, Services } from "../../services.ts";

/** The default models by kind (`mcp.models`). */
export type ToolModels = McpServices["models"];

/** One call, with its caller and the services for it. */
export interface OwnCall extends ToolCall {
  requestId: string;
  /** Of a call over plain HTTP: its `idempotency-key`. */
  retryKey?: string | undefined;
  /** Those of its request's headers that name a session, an end user or tags. */
  naming: Readonly<Record<string, string>>;
  principal: Principal;
  services: Services;
}

export interface OwnTool extends Pick<ToolDefinition, "name" | "title" | "description"> {
  /** Of the route. */
  input: z.ZodType;
  /** The members that are shown, in this order; others of the route may be given all the same. All by default. */
  shown?: readonly string[];
  /** The same for the members of `scrapeOptions`. */
  shownOptions?: readonly string[];
  /** Members whose form differs from the route's. */
  members?: Readonly<Record<string, JsonObject>>;
  /** Those of `members` that a call must have. */
  required?: readonly string[];
  /** The model that is used if the call names none. */
  model?: keyof ToolModels;
  /** Whether it changes nothing outside of the gateway. */
  isReadOnly: boolean;
  /** Whether it reaches beyond the gateway and its providers. */
  isOpenWorld?: boolean;
  call: (call: OwnCall) => Promise<ToolAnswer>;
}
