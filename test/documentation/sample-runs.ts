/** Runs the samples of the reference as they are written there. */
import { expect } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Operation } from "../../scripts/documentation/openapi.ts";
import { sampleBodies } from "../../scripts/documentation/sample-requests.ts";
import { samplesOf } from "../../scripts/documentation/samples.ts";
import { cleanEnvironment, type Gateway, root } from "../kit/index.ts";

/** A document with one line, without a table of its objects, which readers do without. */
const PDF = `%PDF-1.4
1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj
2 0 obj << /Type /Pages /Kids [3 0 R] /Count 1 >> endobj
3 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 300 100] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >> endobj
4 0 obj << /Length 40 >> stream
BT /F 12 Tf 20 50 Td (A report.) Tj ET  
endstream endobj
5 0 obj << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> endobj
trailer << /Root 1 0 R >>
%%EOF
`;

/** Those that need a provider, or a thing, that the sandbox does not have. */
const notRun: Readonly<Record<string, string>> = {
  createVideoEdit: "its video is not ready",
  createVideoExtension: "its video is not ready",
  downloadVideo: "its video is not ready",
  deleteVideo: "its video is not ready",
  deleteProviderFile: "its file is the same that deleteFile deletes",
  cancelResponse: "the response is not in the background",
  rerank: "none of the sandbox's providers ranks",
  rerankV2: "none of the sandbox's providers ranks",
  createImageEdit: "its picture is not there",
  createBatch: "its file is not there",
  cancelBatch: "the batch has ended",
  getMessageBatchResults: "the batch may not have ended",
  deleteMessageBatch: "the batch may not have ended",
  changeProvider: "a provider that is switched off would refuse the samples behind it",
};

interface Language {
  label: "Python" | "TypeScript";
  extension: "py" | "ts";
  /** What runs the files that are named behind it. */
  command: readonly string[];
}

export class SampleRuns {
  readonly #gateway: Gateway;
  readonly #token: string;
  /** The folder in which the samples run, with the files that they send. */
  readonly #folder = mkdtempSync(join(tmpdir(), "tollgate-samples-"));
  /** The samples themselves: below the packages, so that their imports are found. */
  readonly #modules = mkdtempSync(join(root, "node_modules/.tollgate-samples-"));
  /** What is there, by the names in capitals of the samples. */
  #ids: Readonly<Record<string, string>> = {};

  constructor(gateway: Gateway, token: string) {
    this.#gateway = gateway;
    this.#token = token;
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
    rmSync(this.#modules, { recursive: true, force: true });
  }

  /** Runs the samples in a language for which everything is there; returns their number and the errors of those that fail. */
  async run(language: Language, operations: readonly Operation[]): Promise<{ run: number; failed: object }> {
    await this.#createThings();
    const files = this.#written(language, operations);
    const environment = { ...cleanEnvironment(), TOLLGATE_URL: this.#gateway.url, TOLLGATE_TOKEN: this.#token };
    const child = Bun.spawn([...language.command, ...files], {
      cwd: this.#folder,
      env: environment,
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    if (!stdout.startsWith("{")) throw new Error(stderr);
    return { run: files.length, failed: JSON.parse(stdout) as object };
  }

  async #sent(path: string, body: object | FormData): Promise<Response> {
    const isForm = body instanceof FormData;
    const answer = await fetch(this.#gateway.url + path, {
      method: "POST",
      headers: { authorization: `Bearer ${this.#token}`, ...(isForm ? {} : { "content-type": "application/json" }) },
      body: isForm ? body : JSON.stringify(body),
    });
    expect(answer.status, path).toBeLessThan(300);
    return answer;
  }

  async #idOf(path: string, body: object | FormData): Promise<string> {
    const answer = await this.#sent(path, body);
    const { id } = (await answer.json()) as { id: string };
    return id;
  }

  async #createThings(): Promise<void> {
    const speech = { model: "openai/gpt-4o-mini-tts", input: "Hello.", voice: "alloy" };
    const spoken = await this.#sent("/v1/audio/speech", speech);
    writeFileSync(join(this.#folder, "speech.mp3"), await spoken.bytes());
    writeFileSync(join(this.#folder, "report.pdf"), PDF);
    const form = new FormData();
    // OpenAI gives no others back.
    form.set("purpose", "fine-tune");
    form.set("file", new Blob(["{}\n"]), "requests.jsonl");
    const lines = new FormData();
    lines.set("purpose", "batch");
    lines.set("file", new Blob(["{}\n"]), "lines.jsonl");
    const input_file_id = await this.#idOf("/v1/files", lines);
    const window = { endpoint: "/v1/chat/completions", completion_window: "24h" };
    const conversation = await this.#idOf("/v1/conversations", {});
    const items = [{ type: "message", role: "user", content: "Hello." }];
    const added = await this.#sent(`/v1/conversations/${conversation}/items`, { items });
    const { data } = (await added.json()) as { data: { id: string }[] };
    const messages = [{ role: "user", content: "Hello." }];
    const chat = await this.#sent("/v1/chat/completions", { model: "openai/gpt-5-mini", messages });
    const site = String(this.#gateway.banner["site"]);
    this.#ids = {
      FILE_ID: await this.#idOf("/v1/files", form),
      RESPONSE_ID: await this.#idOf("/v1/responses", { model: "openai/gpt-5-mini", input: "Hello." }),
      CONVERSATION_ID: conversation,
      ITEM_ID: data[0]?.id ?? "",
      VIDEO_ID: await this.#idOf("/v1/videos", { model: "openai/sora-2", prompt: "waves", seconds: "4" }),
      REQUEST_ID: chat.headers.get("x-request-id") ?? "",
      BATCH_ID: await this.#idOf("/v1/batches", { input_file_id, ...window }),
      MESSAGE_BATCH_ID: await this.#idOf("/v1/messages/batches", sampleBodies["createMessageBatch"] ?? {}),
      CRAWL: await this.#idOf("/v2/crawl", { url: site, limit: 2 }),
      BATCH: await this.#idOf("/v2/batch/scrape", { urls: [site] }),
    };
  }

  /** A sample with the ids of things that are there; undefined if it needs another. */
  #filled(code: string, { path }: Operation): string | undefined {
    const ids = this.#ids;
    const own = path.includes("/crawl/") ? ids["CRAWL"] : path.includes("/batch/") ? ids["BATCH"] : undefined;
    const site = String(this.#gateway.banner["site"]).replace(/\/$/, "");
    const text = code
      .replaceAll(/\b(?:[A-Z]+_)*ID\b/g, (name) => (name === "ID" ? own : ids[name]) ?? name)
      .replaceAll("https://example.com", site);
    return /[/"](?:[A-Z]+_)*ID\b/.test(text) ? undefined : text;
  }

  /** The files of the samples: what is deleted comes last, and the parts before the whole. */
  #written({ label, extension }: Language, operations: readonly Operation[]): string[] {
    const isLast = ({ method, path }: Operation): boolean => method === "delete" || path.endsWith("/cancel");
    const first = operations.filter((operation) => !isLast(operation));
    const place = join(this.#modules, extension);
    mkdirSync(place);
    return [...first, ...operations.filter(isLast).toReversed()].flatMap((operation) => {
      const { operationId } = operation;
      const code = samplesOf(operation).find((sample) => sample.label === label)?.code;
      const text = code === undefined ? undefined : this.#filled(code, operation);
      if (text === undefined || notRun[operationId] !== undefined) return [];
      const file = join(place, `${operationId}.${extension}`);
      // A file with an import or an export is a module, which may await.
      writeFileSync(file, extension === "ts" ? `${text}\nexport {};\n` : text);
      return [file];
    });
  }
}
