import type { Principal } from "../auth/index.ts";
import type { ChargeableBody, ChargeableRoute, IncomingCall } from "../calls/index.ts";
import type { PaidAnswer, WorkShell } from "../charges/index.ts";
import type { Environment } from "../core/index.ts";
import type { Logger } from "../telemetry/index.ts";
import type { ModelPrice } from "../pricing/index.ts";
import type { ToolGateway } from "../tools/index.ts";
import type { HostedKind } from "./requests/asked-tools.ts";
import type { ConfiguredTools } from "./requests/configured-tools.ts";
import type { ImageModel } from "./requests/image-model.ts";
import type { OwnTools } from "./running/own-tools.ts";
import type { SealedResults } from "./running/sealed-results.ts";
import type { PageFinder } from "./running/web-tools.ts";

/** Who runs a tool: the provider if it can, else the gateway; one of them alone; nobody. */
type HostedMode = "auto" | "native" | "gateway" | "off";

/** The setting of one kind of hosted tool. */
export interface HostedSetting {
  mode: HostedMode;
  /** The tools of servers that run it, if those do. */
  tools?: ConfiguredTools;
}

export interface HostedToolsOptions {
  shell: WorkShell;
  logger: Logger;
  environment: Pick<Environment, "clock" | "randomBytes">;
  /** Performs one call of a model; the pipeline is made with this part. */
  perform: <Body extends ChargeableBody>(route: ChargeableRoute<Body>, call: IncomingCall) => Promise<PaidAnswer>;
  pages: () => PageFinder;
  servers: () => Pick<ToolGateway, "door" | "doorAt" | "own" | "permitsUrl" | "call">;
  own: () => OwnTools;
  /** Seals the texts that clients hand back unread. */
  results: Pick<SealedResults, "of">;
  /** The gateway's address for callers. */
  publicUrl: string;
  /** The price of the call itself, which costs nothing. */
  price: ModelPrice;
  hosted: Readonly<Record<HostedKind, HostedSetting>>;
  /** The models for images that the request names; undefined if there is none that the caller may use, and no default. */
  imageModel: (named: string | undefined, principal: Principal) => ImageModel | undefined;
  /** Whether the search finds pages that its caller has not read. */
  findsWorld: boolean;
  /** After which a model may call no tool any more. */
  deadlineMs: number;
}
