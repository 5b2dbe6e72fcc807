import { randomBytes } from "node:crypto";
import { createToken } from "../../accounts/index.ts";
import { Authenticator, openClientSecretStore, openTokenStore } from "../../auth/index.ts";
import { createAccounts } from "../../../test/kit/accounts.ts";
import { openStorage } from "../../../test/kit/storage.ts";

export interface Callers {
  authenticator: Authenticator;
  /** Alice's token. */
  token: string;
  /** Root's token, an administrator. */
  adminToken: string;
  close(): void | Promise<void>;
}

const clock = (): number => 0;

/** Two callers, with their own storage. */
export async function openCallers(): Promise<Callers> {
  const storage = await openStorage("sqlite::memory:");
  const tokens = openTokenStore(storage);
  const environment = { clock, randomBytes: (size: number) => randomBytes(size) };
  const deps = createAccounts(storage, environment, "test");
  const { token } = await createToken(deps, { user: "alice" });
  const { token: adminToken } = await createToken(deps, { user: "root", role: "owner" });
  const authenticator = new Authenticator({
    store: tokens,
    clientSecrets: openClientSecretStore(storage),
    clock,
    onChange: () => undefined,
  });
  return { authenticator, token, adminToken, close: () => storage.close() };
}
