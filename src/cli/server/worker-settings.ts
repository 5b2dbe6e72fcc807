import type { Config } from "../../config/index.ts";
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
  /** The socket of the process that owns the servers of tools that are programs. */
  toolSocket: string;
  /** The number of workers. */
  processes: number;
  tls: KeyPairInUse | undefined;
  /** Whether the port is bound once the worker is ready, since another process serves it meanwhile. */
  later: boolean;
}
