/** The part of the composition for hosted tools: it makes calls of the pipeline that it is a part of. */
import type { CallPipeline } from "../../calls/index.ts";
import type { Config } from "../../config/index.ts";
import type { Environment } from "../../core/index.ts";
import { HostedTools, SealedResults } from "../../hosted/index.ts";
import { ownInLoops, type Services } from "../../http/index.ts";
import { webPrice } from "../../pricing/index.ts";
import { encryptionKey, type Storage } from "../../storage/index.ts";
import type { WebAccess } from "../../web/index.ts";
import type { PaidWork } from "../paid-work.ts";

interface HostedOptions {
  config: Config;
  environment: Environment;
  storage: Storage;
  calls: PaidWork;
  publicUrl: string;
  /** Those of the same configuration, once they are made. */
  later: () => { pipeline: CallPipeline; web: WebAccess; services: Services };
}

export function createHosted({ config, environment, storage, calls, publicUrl, later }: HostedOptions): HostedTools {
  const { hosted, deadline } = config.tools;
  const { randomBytes } = environment;
  const key = encryptionKey({ configured: config.webhooks.encryption_key, storage, randomBytes });
  const own = ownInLoops(() => later().services);
  return new HostedTools({
    shell: calls.shell,
    logger: calls.logger,
    environment,
    perform: (route, call) => later().pipeline.run(route, call),
    pages: () => later().web,
    servers: () => later().services.mcp.gateway,
    own: () => own,
    results: new SealedResults({ key, randomBytes }),
    publicUrl,
    price: webPrice({ tool_calls_kcount: 0 }, 1_000_000n),
    modes: hosted,
    findsWorld: config.web.search.backend !== "local",
    deadlineMs: deadline,
  });
}
