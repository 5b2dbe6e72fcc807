/** The Helm chart, by its manifests. Helm itself renders them again if it is there. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { loadConfig } from "../../src/config/index.ts";
import { findPython, root } from "../kit/index.ts";
import { type Case, cases, chart, render, renderedFile, sourceHash, valuesOf } from "./render.ts";
import { findTool, run } from "./tools.ts";

interface Manifest {
  kind: string;
  metadata: { name: string; labels: Record<string, string>; annotations?: Record<string, string> };
  data?: Record<string, string>;
  spec: Record<string, unknown>;
}

interface PodSpec {
  terminationGracePeriodSeconds: number;
  automountServiceAccountToken: boolean;
  enableServiceLinks: boolean;
  securityContext: object;
  topologySpreadConstraints: { topologyKey: string }[];
  volumes: { name: string }[];
  containers: {
    args: string[];
    image: string;
    securityContext: object;
    env: { name: string; value?: string; valueFrom?: object }[];
    volumeMounts: { name: string; mountPath: string }[];
  }[];
}

const helm = findTool("helm");
const python = await findPython("test/deploy/requirements.txt");
if ("missing" in python) console.log(`skipped: kubernetes-validate, ${python.missing}`);

const manifests = new Map(
  cases.map((name) => {
    const documents = parseAllDocuments(readFileSync(renderedFile(name), "utf8"));
    return [name, documents.map((document) => document.toJS() as Manifest)] as const;
  }),
);

function find(name: Case, kind: string, suffix = ""): Manifest {
  const found = manifests
    .get(name)
    ?.find((each) => each.kind === kind && each.metadata.name === `ai-tollgate${suffix}`);
  if (found === undefined) throw new Error(`no ${kind} ai-tollgate${suffix}`);
  return found;
}

const podOf = ({ spec }: Manifest) => (spec["template"] as { metadata: Manifest["metadata"]; spec: PodSpec }).spec;

const helmWith = (...settings: string[]): string =>
  run([helm ?? "", "template", "ai", chart, "--kube-version", "1.31.0", ...settings.flatMap((each) => ["--set", each])])
    .output;

describe.each(cases)("with the values %s", (name) => {
  test("the manifests are those of the chart (bun test/deploy/render.ts)", () => {
    const rendered = readFileSync(renderedFile(name), "utf8");
    expect(rendered.split("\n", 1)[0]).toEndWith(sourceHash(name));
    if (helm !== undefined) expect(render(helm, name)).toBe(rendered);
  });

  test.skipIf(helm === undefined)("helm lint finds nothing", () => {
    expect(run([helm ?? "", "lint", chart, "--strict", "--values", valuesOf(name)])).toMatchObject({ code: 0 });
  });

  test.skipIf("missing" in python)("Kubernetes's schemas accept them", () => {
    const bin = "python" in python ? join(python.python, "..") : "";
    const { code, output } = run([join(bin, "kubernetes-validate"), "--strict", renderedFile(name)]);
    const problems = output.split("\n").filter((line) => line !== "" && !line.startsWith("INFO "));
    // An object of the operator of Prometheus, which Kubernetes itself does not know.
    expect(problems.filter((line) => !line.includes("schema for kind ServiceMonitor"))).toEqual([]);
    expect(code).toBe(0);
  });

  test("nodes start on a configuration that is valid", () => {
    const text = find(name, "ConfigMap").data?.["tollgate.yaml"] ?? "";
    const here = text
      .replaceAll(/\$\{file:[^}]+\}/g, "key")
      .replaceAll(/\/run\/tollgate\/tls\/tls\.\w+/g, import.meta.path);
    const variables = { TOLLGATE_DATABASE_URL: "postgres://tollgate:secret@postgres/tollgate" };
    const { config } = loadConfig({ file: "tollgate.yaml", text: here, variables });
    expect(config).toMatchObject({ storage: variables.TOLLGATE_DATABASE_URL, storage_migrate: "manual" });
    const pod = podOf(find(name, "StatefulSet"));
    const { drain, drain_delay: delay = 0, port } = config.server;
    expect(pod.terminationGracePeriodSeconds * 1000).toBe(drain + delay + 30_000);
    expect(port).toBe(8787);
    expect(delay).toBeGreaterThanOrEqual(10_000);
    const data = pod.containers[0]?.volumeMounts.find(({ name: volume }) => volume === "data")?.mountPath;
    expect(config.storage_journal.startsWith(`${data}/`)).toBe(true);
    const claims = find(name, "StatefulSet").spec["volumeClaimTemplates"] as Manifest[];
    expect(claims.map(({ metadata }) => metadata.name)).toEqual(["data"]);
  });

  test("the schema is migrated before the nodes are replaced, by the same image", () => {
    const job = find(name, "Job", "-migration");
    expect(job.metadata.annotations?.["helm.sh/hook"]).toBe("pre-install,pre-upgrade");
    const [migrating, serving] = [podOf(job).containers[0], podOf(find(name, "StatefulSet")).containers[0]];
    expect(migrating?.args).toEqual(["migrate", "--apply"]);
    expect(migrating?.image).toBe(serving?.image ?? "");
    const text = find(name, "ConfigMap", "-migration").data?.["tollgate.yaml"] ?? "";
    expect(
      loadConfig({ file: "a.yaml", text, variables: { TOLLGATE_DATABASE_URL: "postgres://p" } }).config.storage,
    ).toBe("postgres://p");
    // A service must not send calls to it.
    const labels = (job.spec["template"] as { metadata: Manifest["metadata"] }).metadata.labels;
    const selector = find(name, "Service").spec["selector"] as Record<string, string>;
    expect(Object.entries(selector).every(([key, value]) => labels[key] === value)).toBe(false);
  });

  test("pods meet the restricted standard, and no secret is in a manifest", () => {
    for (const manifest of [find(name, "StatefulSet"), find(name, "Job", "-migration")]) {
      const pod = podOf(manifest);
      expect(pod).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
      expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
      for (const { securityContext, env } of pod.containers) {
        expect(securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        });
        expect(env.find(({ name: variable }) => variable === "TOLLGATE_DATABASE_URL")?.valueFrom).toBeDefined();
      }
    }
    expect(manifests.get(name)?.some(({ kind }) => kind === "Secret")).toBe(false);
  });

  test("nodes are spread, and evicted one at a time", () => {
    const keys = podOf(find(name, "StatefulSet")).topologySpreadConstraints.map(({ topologyKey }) => topologyKey);
    expect(keys).toContain("topology.kubernetes.io/zone");
    expect(find(name, "PodDisruptionBudget").spec["maxUnavailable"]).toBe(1);
  });
});

test("metrics are scraped of each pod", () => {
  const monitor = find("full", "ServiceMonitor").spec as { selector: { matchLabels: Record<string, string> } };
  const services = (manifests.get("full") ?? []).filter(({ kind, metadata: { labels } }) =>
    kind === "Service"
      ? Object.entries(monitor.selector.matchLabels).every(([key, value]) => labels[key] === value)
      : false,
  );
  expect(services.map(({ metadata }) => metadata.name)).toEqual(["ai-tollgate-nodes"]);
  expect(services[0]?.spec).toMatchObject({ clusterIP: "None", publishNotReadyAddresses: true });
});

test("the chart has the version of the package", () => {
  const { version, appVersion } = parse(readFileSync(join(chart, "Chart.yaml"), "utf8")) as Record<string, string>;
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  expect([version, appVersion]).toEqual([manifest.version, manifest.version]);
});

describe.skipIf(helm === undefined)("values", () => {
  const database = "database.existingSecret=tollgate-database";

  test.each([
    [[], "/database/existingSecret"],
    [[database, "config.storage=sqlite:a.db"], "/config/storage"],
    [[database, "config.server.drain=2m"], "/config/server/drain"],
    [[database, "replica=3"], "additional properties 'replica' not allowed"],
    [[database, "podDisruptionBudget.maxUnavailable=0"], "/podDisruptionBudget/maxUnavailable"],
    [[database, "ingress.enabled=true"], "/ingress/hosts"],
  ])("%j are refused", (settings, reason) => {
    expect(helmWith(...settings)).toContain(reason);
  });

  test("a node is replaced by what needs a restart alone", () => {
    const hashWith = (...settings: string[]): string | undefined =>
      /checksum\/restart: (\w+)/.exec(helmWith(database, ...settings))?.[1];
    expect(hashWith("config.log.level=debug", "config.pricing.markup=2")).toBe(hashWith());
    for (const setting of ["config.log.format=text", "config.server.timezone=UTC", "metrics.enabled=false"])
      expect(hashWith(setting)).not.toBe(hashWith());
  });
});
