/** Sign-ins of browsers by OpenID Connect. */
import { outboundWith } from "../webhooks.ts";
import type { Config } from "../../config/index.ts";
import type { Environment } from "../../core/index.ts";
import type { SignInIssuer } from "../../http/index.ts";
import type { OpenIdSignIn } from "../../identity/index.ts";
import type { Logger } from "../../telemetry/index.ts";

interface SignInsOptions {
  config: Config;
  environment: Environment;
  logger: Logger;
  publicUrl: string;
}

/** By their names. The code is loaded with the first sign-in. */
export function createSignIns(options: SignInsOptions): ReadonlyMap<string, SignInIssuer> {
  return new Map(Object.keys(options.config.auth.sign_in).map((name) => [name, createSignIn(options, name)]));
}

function createSignIn({ config: all, environment, logger, publicUrl }: SignInsOptions, name: string): SignInIssuer {
  const load = async (): Promise<OpenIdSignIn> => {
    const config = all.auth.sign_in[name];
    if (config === undefined) throw new TypeError(`there is no sign-in ${name}`);
    const { OpenIdSignIn: SignIn } = await import("../../identity/index.ts");
    const { host, port } = new URL(config.issuer);
    const base = publicUrl.replace(/\/+$/, "");
    return new SignIn({
      name,
      config,
      redirectUrl: `${base}/console/sign-in/${name}/callback`,
      signedOutUrl: `${base}/console/sign-in`,
      // Its own host may be private: the operator has chosen it. Others that its document names may not.
      outbound: outboundWith({ allowPrivateHosts: [host], allowPorts: [443, Number(port) || 443] }, environment),
      clock: environment.clock,
      logger,
    });
  };
  let loaded: Promise<OpenIdSignIn> | undefined;
  const signIn = (): Promise<OpenIdSignIn> => (loaded ??= load());
  return {
    begin: async (how) => (await signIn()).begin(how),
    finish: async (query, begun) => (await signIn()).finish(query, begun),
    signOutUrl: async () => (await signIn()).signOutUrl(),
  };
}
