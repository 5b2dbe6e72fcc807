/** A server that stops ends its uploads first: a file whose answer is lost belongs to nobody. */
import { expect, test } from "bun:test";
import { simulatedKey, startGateway, startRig, until } from "../kit/index.ts";
import { newFilesClient } from "./files-client.ts";

test("an upload under way is recorded before the server ends", async () => {
  const rig = await startRig();
  const slow = { kind: "openai", base_url: rig.simulators.providers.openai, api_key: `${simulatedKey}+slow-700` };
  const gateway = await startGateway({ providers: { slow } });
  const alice = await newFilesClient({ gateway });
  const uploading = alice.upload("slow");
  await until("the upstream has it", () => rig.simulators.total() === 1);
  const stopped = gateway.stop({ keepFolder: true });
  const { status, json } = await uploading;
  expect([status, await stopped]).toEqual([200, 0]);
  const again = await startGateway({ providers: { slow }, folder: gateway.folder });
  const answer = await fetch(`${again.url}/v1/files/${String(json["id"])}`, {
    headers: { authorization: `Bearer ${alice.token}` },
  });
  expect(answer.status).toBe(200);
  await again.stop();
  await rig.stop();
});
