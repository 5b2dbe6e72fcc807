export { SignedCallerVerifier } from "./signed-caller-verifier.ts";
export { OpenIdSignIn } from "./open-id/open-id-sign-in.ts";
