import type { Config } from "../../config/index.ts";
import type { HostAddress } from "../../tools/index.ts";
import type { KeyPairInUse } from "../tls/key-pair.ts";

/**
 * The settings of each worker, as one line of JSON: all workers use the configuration that their parent has read, even if the
 * file changes. A reload sends it to them.
 */
export interface WorkerSettings {
  config: Config;
  missingKeys: [prefix: string, variable: string][];
  simulated: [prefix: string, url: string][];
  storageUrl: string;
  host: string;
  port: number;
  /** The process that owns the servers of tools that are programs. */
  toolHost: HostAddress;
  /** The number of workers. */
  processes: number;
  tls: KeyPairInUse | undefined;
  /** Whether the port is bound once the worker is ready, since another process serves it meanwhile. */
  later: boolean;
}
