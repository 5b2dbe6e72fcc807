/** The secret in the subprotocols of a handshake, and the subprotocol to answer with. */
interface SocketCredentials {
  secret: string | undefined;
  protocol: string | undefined;
}

/** OpenAI's subprotocols for browsers: the first is answered, the second contains the secret. */
const REALTIME = "realtime";
const OPENAI_KEY = "openai-insecure-api-key.";

/** xAI's subprotocol for browsers, which its answer repeats. */
const XAI_SECRET = "xai-client-secret.";

/** Reads `Sec-WebSocket-Protocol`. Only a protocol without a secret is answered, except for xAI's, whose clients expect theirs. */
export function credentialsOf(header: string | null): SocketCredentials {
  const offered = (header ?? "").split(",").map((protocol) => protocol.trim());
  const ofXai = offered.find((protocol) => protocol.startsWith(XAI_SECRET));
  if (ofXai !== undefined) return { secret: ofXai.slice(XAI_SECRET.length), protocol: ofXai };
  const ofOpenai = offered.find((protocol) => protocol.startsWith(OPENAI_KEY));
  return {
    secret: ofOpenai?.slice(OPENAI_KEY.length),
    protocol: offered.includes(REALTIME) ? REALTIME : undefined,
  };
}
