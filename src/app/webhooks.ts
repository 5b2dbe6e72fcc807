/** The part of the composition for addresses that callers choose, and for the webhooks that are sent there. */
import type { AuditLog } from "../audit/index.ts";
import type { Config } from "../config/index.ts";
import type { Environment } from "../core/index.ts";
import type { JobHandler, JobStore } from "../jobs/index.ts";
import { AddressGuard, type GuardOptions, Outbound, ownAddresses, resolveName } from "../outbound/index.ts";
import { encryptionKey, type Storage } from "../storage/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { UpstreamClient } from "../upstream/index.ts";
import { openWebhookSecretStore, WEBHOOK_JOB, WebhookDelivery, Webhooks, WebhookSecrets } from "../webhooks/index.ts";

interface SecretsOptions {
  config: Config;
  log: AuditLog;
  storage: Storage;
  environment: Pick<Environment, "clock" | "randomBytes">;
}

/** The secrets of webhooks, which a command needs without a server. */
export function createWebhookSecrets({ config, log, storage, environment }: SecretsOptions): WebhookSecrets {
  const { randomBytes } = environment;
  const key = encryptionKey({ configured: config.webhooks.encryption_key, storage, randomBytes });
  return new WebhookSecrets({ store: openWebhookSecretStore(storage), log, key, environment });
}

interface WebhooksOptions extends SecretsOptions {
  environment: Environment;
  logger: Logger;
  outbound: Outbound;
  jobs: JobStore;
  /** Runs the due jobs of a kind. */
  wake: (kind: string) => void;
}

/** Webhooks, and the handlers of their jobs by kind. */
export function createWebhooks(options: WebhooksOptions): {
  webhooks: Webhooks;
  secrets: WebhookSecrets;
  delivery: WebhookDelivery;
  handlers: [string, JobHandler][];
} {
  const { environment, logger, outbound, jobs, wake } = options;
  const { clock, randomFraction } = environment;
  const secrets = createWebhookSecrets(options);
  const delivery = new WebhookDelivery({ secrets, outbound, logger, clock, randomFraction });
  return {
    secrets,
    delivery,
    webhooks: new Webhooks({ jobs, secrets, outbound, delivery, clock, onScheduled: wake }),
    handlers: [[WEBHOOK_JOB, delivery]],
  };
}

/**
 * Requests to addresses that callers choose. They have a client of their own: upstreams are chosen by the operator, and may be
 * reached through a proxy or by `fetch`, which would look names up themselves.
 */
export function createOutbound({ web }: Config, environment: Pick<Environment, "clock">): Outbound {
  const { allow_private_hosts: allowPrivateHosts, allow_ports: allowPorts } = web;
  return outboundWith({ allowPrivateHosts, allowPorts }, environment);
}

/** The same with other permissions. */
export function outboundWith(
  permitted: Pick<GuardOptions, "allowPrivateHosts" | "allowPorts">,
  { clock }: Pick<Environment, "clock">,
): Outbound {
  const { ask } = new UpstreamClient({
    fallback: () => Promise.reject(new TypeError("a request to a checked address has its body in memory")),
    clock,
    variables: {},
  });
  const guard = new AddressGuard({ ...permitted, resolve: resolveName, ownAddresses });
  return new Outbound({ guard, ask });
}
