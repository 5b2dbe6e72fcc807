/** A server that receives webhooks, and verifies them with the standard's own library. */
import { Webhook } from "standardwebhooks";

export interface ReceivedWebhook {
  id: string;
  timestamp: string;
  signatures: string[];
  headers: Headers;
  body: string;
}

export class WebhookReceiver implements Disposable {
  readonly received: ReceivedWebhook[] = [];
  readonly #server: Bun.Server<undefined>;
  readonly #waiting = new Set<() => void>();

  /** Answers the nth request (counted from 1); 200 by default. */
  constructor(answer: (nth: number) => Response | Promise<Response> = () => new Response()) {
    this.#server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      idleTimeout: 0,
      fetch: async (request) => {
        const { headers } = request;
        this.received.push({
          id: headers.get("webhook-id") ?? "",
          timestamp: headers.get("webhook-timestamp") ?? "",
          signatures: (headers.get("webhook-signature") ?? "").split(" "),
          headers,
          body: await request.text(),
        });
        for (const resolve of this.#waiting) resolve();
        this.#waiting.clear();
        return answer(this.received.length);
      },
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}/hook?token=for-the-receiver`;
  }

  /** Resolves once so many requests have arrived. */
  async until(count: number): Promise<void> {
    while (this.received.length < count) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.add(resolve);
      await promise;
    }
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true);
  }
}

/** The verified content. Throws if the signature is not by this secret, or too old. */
export function verified({ body, headers }: ReceivedWebhook, secret: string): unknown {
  return new Webhook(secret).verify(body, Object.fromEntries(headers));
}
