/** Callers with tokens that configured issuers have signed. */
import { createAccounts } from "../accounts.ts";
import { outboundWith } from "../webhooks.ts";
import type { VerifySigned } from "../../auth/index.ts";
import type { Config } from "../../config/index.ts";
import type { Environment } from "../../core/index.ts";
import type { Storage } from "../../storage/index.ts";
import type { Logger } from "../../telemetry/index.ts";

interface SignedCallersOptions {
  config: Config;
  environment: Environment;
  storage: Storage;
  logger: Logger;
  addressOf?: ((request: Request) => string | undefined) | undefined;
}

/** Undefined without issuers. The code is loaded with the first token. */
export function createSignedCallers(options: SignedCallersOptions): VerifySigned | undefined {
  const { config, environment, storage, logger, addressOf = () => undefined } = options;
  const { issuers } = config.auth;
  if (issuers.length === 0) return undefined;
  const load = async (): Promise<VerifySigned> => {
    const { SignedCallerVerifier } = await import("../../identity/index.ts");
    const verifier = new SignedCallerVerifier({
      issuers,
      // Its own host may be private: the operator has chosen it. One that its document names may not.
      outboundTo: ({ issuer }) =>
        outboundWith({ allowPrivateHosts: [new URL(issuer).host], allowPorts: [443] }, environment),
      accounts: createAccounts(storage, environment, "issuer"),
      addressOf,
      clock: environment.clock,
      logger,
    });
    return (text, from) => verifier.verify(text, from);
  };
  let loaded: Promise<VerifySigned> | undefined;
  return async (text, from) => (await (loaded ??= load()))(text, from);
}
