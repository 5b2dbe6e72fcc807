export { SignedCallerVerifier } from "./signed-caller-verifier.ts";
