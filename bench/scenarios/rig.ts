import { join } from "node:path";
import type { ClosedLoopJob, ClosedLoopResult } from "../load/protocol.ts";
import { upstreamModels } from "../proxies/index.ts";
import type { ProxyContext, Target } from "../proxies/index.ts";
import type { Children } from "../system/children.ts";
import { Helper } from "../system/helper.ts";
import { moveToCores, onCores } from "../system/pinning.ts";
import type { Pinning } from "../system/pinning.ts";
import type { ExpectedFile, StreamPlan, UpstreamReady, UpstreamStatistics } from "../upstream/protocol.ts";

/** The fixed upstream and the load generator, each a separate process, with the address for proxies. */
export class Rig {
  readonly context: ProxyContext;
  readonly upstream: Helper;
  readonly load: Helper;

  private constructor(context: ProxyContext, upstream: Helper, load: Helper) {
    this.context = context;
    this.upstream = upstream;
    this.load = load;
  }

  static async start(children: Children, pinning: Pinning): Promise<Rig> {
    const helper = (path: string): Helper => {
      const command = [process.execPath, join(import.meta.dirname, "..", path)];
      return new Helper(children.startHelper(onCores(pinning.otherCores, command)));
    };
    const upstream = helper("upstream/main.ts");
    const load = helper("load/main.ts");
    const { port } = await upstream.next<UpstreamReady>();
    await load.next();
    return new Rig({ upstreamPort: port, children, pinning }, upstream, load);
  }

  /** The upstream without a proxy. */
  get direct(): Target {
    return { port: this.context.upstreamPort, models: upstreamModels, headers: {} };
  }

  /**
   * Puts the upstream on the proxy's core while it is called directly, and back. A direct call then wakes another core
   * twice and a proxied one four times, as between machines; with upstream and load generator on one core a direct call
   * would wake none, and every proxy would be charged for waking cores that no direct call could avoid.
   */
  placeUpstream(where: "in the proxy's place" | "beside the load generator"): void {
    const { proxyCore, otherCores } = this.context.pinning;
    if (proxyCore === null) return;
    moveToCores(this.upstream.pid, where === "in the proxy's place" ? [proxyCore] : otherCores);
  }

  async setPlan(plan: StreamPlan): Promise<void> {
    await this.upstream.ask({ command: "plan", plan });
  }

  /** The required content of uploads from now on; the upstream refuses any other. */
  async expectFile(file: ExpectedFile): Promise<void> {
    await this.upstream.ask({ command: "expect-file", file });
  }

  async statistics(): Promise<UpstreamStatistics> {
    return this.upstream.ask({ command: "statistics" });
  }

  async run(job: ClosedLoopJob): Promise<ClosedLoopResult> {
    return this.load.ask(job);
  }

  async stop(): Promise<void> {
    await Promise.all([this.upstream.stop(), this.load.stop()]);
  }
}

/** Progress goes to stderr, so that stdout contains the report only. */
export function progress(text: string): void {
  process.stderr.write(`bench: ${text}\n`);
}
