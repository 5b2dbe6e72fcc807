import type { ActOptions, AuditLog } from "../audit/index.ts";
import type { Environment } from "../core/index.ts";
import { type EncryptionKey, secretBox, type SecretBox, SecretError, type Steps } from "../storage/index.ts";
import type { WebhookSecretStore } from "./store.ts";
import { WebhookError } from "./webhook-error.ts";

/** How long the previous secret signs as well after a rotation. */
const PREVIOUS_SIGNS_MS = 24 * 3_600_000;

/** The standard recommends 24 to 64 bytes. */
const SECRET_BYTES = 32;

function boxOf(text: string): SecretBox {
  const remedy = "rotate the secret";
  return secretBox(text, { label: "tollgate webhook secrets", noun: "webhook secret", remedy });
}

/** A new secret, which is shown once. */
export interface MadeSecret {
  user: string;
  secret: string;
  /** Until when the previous secret signs as well; undefined if there was none. */
  previousUntil: number | undefined;
}

/** How users make their own secret. */
export interface MakingOptions extends ActOptions {
  /** Runs within the act, and throws if it is not permitted. */
  check?: () => Steps<void>;
  /** How long after a rotation another one is refused, in milliseconds. */
  rotationMsMin?: number;
}

export interface WebhookSecretsOptions {
  store: WebhookSecretStore;
  log: AuditLog;
  key: EncryptionKey;
  environment: Pick<Environment, "clock" | "randomBytes">;
}

/** The secrets that sign the webhooks of each user. */
export class WebhookSecrets {
  readonly #options: WebhookSecretsOptions;

  constructor(options: WebhookSecretsOptions) {
    this.#options = options;
  }

  async has(user: string): Promise<boolean> {
    return (await this.#options.store.find(user)) !== undefined;
  }

  /** Makes the user's first secret. Rejects with a `WebhookError` if there is one. */
  make(user: string, options: MakingOptions): Promise<MadeSecret> {
    return this.#issue(user, false, options);
  }

  /** Replaces the user's secret, or makes the first one. Rejects with a `WebhookError` if it was replaced just now. */
  rotate(user: string, options: MakingOptions): Promise<MadeSecret> {
    return this.#issue(user, true, options);
  }

  async #issue(user: string, rotates: boolean, options: MakingOptions): Promise<MadeSecret> {
    const { store, log } = this.#options;
    const { secret, row } = this.#newSecret(user);
    const { check, rotationMsMin = 0, ...act } = options;
    const until = row.madeAt + PREVIOUS_SIGNS_MS;
    const times = { previousUntil: until, notAfter: row.madeAt - rotationMsMin };
    return log.act(act, function* (note) {
      if (check !== undefined) yield* check();
      const target = `user:${user}`;
      if (yield* store.insert(row)) {
        note({ act: "webhook_secret.create", target, after: { user_id: user } });
        return { user, secret, previousUntil: undefined };
      }
      if (!rotates)
        throw new WebhookError(`user ${user} has a webhook secret, which can't be shown again; --rotate replaces it`, {
          reason: "has-secret",
        });
      if (!(yield* store.rotate(row, times)))
        throw new WebhookError(`the webhook secret of user ${user} was replaced just now`, { reason: "too-soon" });
      const after = { user_id: user, previous_signs_until: new Date(until).toISOString() };
      note({ act: "webhook_secret.rotate", target, after });
      return { user, secret, previousUntil: until };
    });
  }

  /** The secrets that sign now, the current one first. Rejects with a `WebhookError` if there is none, with a `SecretError` if none opens. */
  async signing(user: string): Promise<string[]> {
    const { store, key, environment } = this.#options;
    const stored = await store.find(user);
    if (stored === undefined) throw new WebhookError(`user ${user} has no webhook secret`);
    const text = key.find();
    if (text === undefined) throw new WebhookError("there is no key for webhook secrets: set webhooks.encryption_key");
    const box = boxOf(text);
    const { secret, previous } = stored;
    const current = box.open(secret, user);
    if (previous === undefined || previous.until <= environment.clock()) return [current];
    return [current, ...openOrNone(box, previous.secret, user)];
  }

  #newSecret(user: string) {
    const { key, environment } = this.#options;
    const text = key.findOrMake();
    if (text === undefined) {
      throw new WebhookError(
        "on Postgres webhook secrets need a key: set webhooks.encryption_key or TOLLGATE_SECRET_KEY",
        { reason: "no-key" },
      );
    }
    const { clock, randomBytes } = environment;
    const secret = `whsec_${Buffer.from(randomBytes(SECRET_BYTES)).toString("base64")}`;
    const sealed = boxOf(text).seal(secret, user, randomBytes);
    return { secret, row: { owner: user, secret: sealed, madeAt: clock() } };
  }
}

/** After the key was replaced and the secret rotated, the previous secret does not open: only the new one signs. */
function openOrNone(box: SecretBox, sealed: string, user: string): string[] {
  try {
    return [box.open(sealed, user)];
  } catch (reason) {
    if (reason instanceof SecretError) return [];
    throw reason;
  }
}
