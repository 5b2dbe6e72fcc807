import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CallAborter } from "../../core/index.ts";
import { askHost } from "./ask-host.ts";

/** Asks a host that is not there, until one listens or the caller leaves. Returns how often the request counts as sent. */
async function askAbsent(then: (socket: string, signal: CallAborter) => (() => unknown) | undefined) {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-ask-host-"));
  const socket = join(folder, "socket");
  const signal = new CallAborter();
  let sent = 0;
  const failed = Promise.withResolvers<void>();
  const headers = new Headers();
  const onSent = (isSent: boolean): void => {
    sent += isSent ? 1 : -1;
    if (!isSent) failed.resolve();
  };
  const asking = askHost(
    { socket, secret: "s" },
    "user",
  )({
    method: "POST",
    url: "http://tools.invalid/name",
    headers,
    body: "{}",
    signal,
    onSent,
  }).then(
    ({ status }) => status,
    (thrown: unknown) => String(thrown),
  );
  await failed.promise;
  const stop = then(socket, signal);
  const ended = await asking;
  await stop?.();
  rmSync(folder, { recursive: true, force: true });
  return { ended, sent };
}

test("a request to a host that is not there yet counts as sent once the host has it", async () => {
  const answered = await askAbsent((unix) => {
    const server = Bun.serve({ unix, fetch: () => new Response("{}") });
    return () => server.stop(true);
  });
  expect(answered).toMatchObject({ ended: 200, sent: 1 });
});

test("one whose caller leaves before there is a host counts as not sent", async () => {
  const left = await askAbsent((_socket, signal) => {
    signal.abort(new Error("the client has left"));
    return undefined;
  });
  expect(left).toMatchObject({ ended: expect.stringContaining("left") as string, sent: 0 });
});
