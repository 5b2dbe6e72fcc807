import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onProxyCore } from "../system/pinning.ts";
import { freePort } from "../system/ports.ts";
import { upstreamModels, waitUntilReady } from "./proxy.ts";
import type { Proxy, ProxyContext, RunningProxy } from "./proxy.ts";

/**
 * The floor. Set up in its favour: one worker, no access log, connections to the upstream kept, nothing buffered
 * (buffered, nginx would hold streams back and write large bodies to disk). Uploads it does write to disk, its default and
 * the same work as Tollgate's: both ask the upstream only when all of a form is there.
 */
function configuration(directory: string, port: number, upstreamPort: number): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `  ${name}_temp_path ${directory}/${name};`)
    .join("\n");
  return `
daemon off;
worker_processes 1;
worker_rlimit_nofile 16384;
${process.getuid?.() === 0 ? "user root;" : ""}
pid ${directory}/nginx.pid;
error_log ${directory}/error.log warn;
events { worker_connections 16384; }
http {
  access_log off;
${temporary}
  client_max_body_size 32m;
  client_body_buffer_size 1m;
  keepalive_requests 100000000;
  upstream bench {
    server 127.0.0.1:${upstreamPort};
    keepalive 256;
    keepalive_requests 100000000;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_buffering off;
    proxy_read_timeout 600s;
    location / {
      proxy_pass http://bench;
      proxy_request_buffering off;
    }
    location = /v1/realtime {
      proxy_pass http://bench;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection "upgrade";
    }
    location /v1/audio/ {
      proxy_pass http://bench;
      client_body_buffer_size 16k;
      sendfile on;
    }
  }
}
`;
}

/** Debian installs it outside an ordinary user's PATH. */
const program = Bun.which("nginx") ?? Bun.which("nginx", { PATH: "/usr/sbin:/usr/local/sbin" });
let starts = 0;

function version(): string {
  if (program === null) return "";
  const said = Bun.spawnSync([program, "-v"]).stderr.toString();
  return /nginx\/(\S+)/.exec(said)?.[1] ?? "";
}

async function start(context: ProxyContext): Promise<RunningProxy> {
  const port = await freePort();
  const directory = join(context.children.directory, `nginx-${(starts += 1)}`);
  mkdirSync(directory);
  const file = join(directory, "nginx.conf");
  writeFileSync(file, configuration(directory, port, context.upstreamPort));
  const command = [program ?? "nginx", "-p", directory, "-e", join(directory, "error.log"), "-c", file];
  const server = context.children.startServer("nginx", onProxyCore(context.pinning, command), {});
  await waitUntilReady(server, port, "/v1/models");
  const target = { port, models: upstreamModels, headers: {} };
  const spoolFolder = join(directory, "client_body");
  return { target, process: server, databasePid: null, stateFile: null, spoolFolder, stop: () => server.stop() };
}

export const nginx: Proxy = {
  id: "nginx",
  label: () => `nginx ${version()}`,
  setUp:
    "plain reverse proxy, one worker, keep-alive to the upstream, no access log, no buffering but of uploads, on disk",
  whyMissing: async () =>
    program === null ? "nginx is not installed (Debian's package: apt-get install nginx)" : null,
  start,
};
