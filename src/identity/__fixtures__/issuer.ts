import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import type { ReplyBody } from "../../core/index.ts";
import type { Outbound } from "../../outbound/index.ts";

/** An issuer in memory, whose keys and documents a test changes. */
export class TestIssuer {
  readonly url: string;
  /** The addresses that were asked. */
  readonly asked: string[] = [];
  readonly outbound: Pick<Outbound, "fetch"> = { fetch: (request) => this.#answer(request) };
  keys: { kid: string; privateKey: CryptoKey; published: object }[] = [];
  /** In place of its documents. */
  document: object | undefined;
  status = 200;
  /** Holds answers back. */
  gate: Promise<void> = Promise.resolve();

  constructor(url = "https://issuer.test") {
    this.url = url;
  }

  /** A new key in place of the others. */
  async rotate(kid: string, alg = "ES256", extra: object = {}): Promise<void> {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    this.keys = [{ kid, privateKey, published: { ...(await exportJWK(publicKey)), kid, alg, use: "sig", ...extra } }];
  }

  /** Signs with the first key. */
  sign(claims: JWTPayload, header: object = {}): Promise<string> {
    const [key] = this.keys;
    if (key === undefined) throw new Error("it has no key");
    const published = key.published as { alg: string };
    return new SignJWT(claims).setProtectedHeader({ alg: published.alg, kid: key.kid, ...header }).sign(key.privateKey);
  }

  async #answer({ url }: Parameters<Outbound["fetch"]>[0]): ReturnType<Outbound["fetch"]> {
    this.asked.push(url);
    await this.gate;
    const isDiscovery = url.endsWith("/.well-known/openid-configuration");
    const document = isDiscovery
      ? { issuer: this.url, jwks_uri: "https://keys.issuer.test/jwks", ...this.document }
      : { keys: this.keys.map(({ published }) => published) };
    const bytes = Buffer.from(JSON.stringify(document));
    const body: ReplyBody = {
      flowTo: (sink) => {
        sink.onBytes(bytes);
        sink.onEnd();
      },
      pause() {},
      resume() {},
      cancel() {},
    };
    return { status: this.status, headers: new Headers(), url, body };
  }
}
