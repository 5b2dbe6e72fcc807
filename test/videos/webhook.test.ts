/** The signed message at the end of a video job. */
import { describe, expect, test } from "bun:test";
import { verified, WebhookReceiver } from "../../src/webhooks/__fixtures__/receiver.ts";
import { engines, until } from "../kit/index.ts";
import { json, videoScene } from "./video-scene.ts";

describe.each(engines)("the webhook of a video on %s", (engine) => {
  const scene = videoScene(engine);

  const create = (webhookUrl: string): Promise<Response> =>
    scene.send("POST", "/v1/videos", { body: { model: "openai/sora-2", prompt: "x", webhook_url: webhookUrl } });

  async function makeSecret(): Promise<string> {
    const { stdout } = await scene.gateway.cli("webhooks", "secret", "--user", scene.user, "--json");
    return (JSON.parse(stdout) as { secret: string }).secret;
  }

  test.each([
    ["completed", "video.completed"],
    ["failed", "video.failed"],
  ])("of one that has %s contains the job, and its address never goes upstream", async (status, type) => {
    const secret = await makeSecret();
    using receiver = new WebhookReceiver(() => new Response());
    const id = scene.newId("video_");
    scene.serve(id, () => Response.json({ id, status, seconds: "4", size: "720x1280" }));
    expect((await create(receiver.url)).status).toBe(200);
    expect(scene.upstream.requests[0]?.body).not.toContain("webhook_url");
    const { job } = await scene.poll(id);
    await receiver.until(1);
    const [received] = receiver.received;
    if (received === undefined) throw new Error("nothing was received");
    expect(verified(received, secret)).toMatchObject({ type, data: job });
    await until("the log is written", () => scene.gateway.log().includes("call"));
    expect(scene.gateway.log()).not.toContain(receiver.url);
  });

  test("is refused without a secret, and for an address that no webhook may have", async () => {
    const refused = await create("https://example.com/hook");
    expect([refused.status, await json(refused)]).toMatchObject([422, { error: { param: "webhook_url" } }]);
    await makeSecret();
    const inside = await create("http://169.254.169.254/latest");
    expect([inside.status, await json(inside)]).toMatchObject([422, { error: { param: "webhook_url" } }]);
    expect(await scene.books()).toEqual({ spent: 0n, held: 0n });
  });
});
