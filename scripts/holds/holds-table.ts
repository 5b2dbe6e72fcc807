import { decodedSizeOf } from "../../src/bodies/index.ts";
import { outputHold, WorkCost } from "../../src/charges/index.ts";
import { type CallFile, formatCredits, NANO_PER_CREDIT, type Nano, type WorkBound } from "../../src/core/index.ts";
import { chatCodec, chatRequest, responsesCodec, responsesRequest } from "../../src/dialects/index.ts";
import {
  imageGenerationCodec,
  imageGenerationRequest,
  transcriptionCodec,
  transcriptionForm,
} from "../../src/media/index.ts";
import { type ModelPrice, PriceBook } from "../../src/pricing/index.ts";
import { createProvider, type ProviderChoice } from "../../src/providers/index.ts";
import { table } from "../shared/markdown.ts";

const begin = '<!-- Written by "npm run generate" from the prices of 23 November 2026: -->';
const end = "<!-- End of the generated tables. -->";

/** A fixed moment, because some prices change with the date and the hour. */
const clock = (): number => Date.UTC(2026, 10, 23, 12);
const book = new PriceBook({ operatorPrices: {}, unpriced: "refuse", clock });
const BALANCE = 10n * NANO_PER_CREDIT;

const choices: Readonly<Record<string, ProviderChoice>> = {
  openai: { kind: "openai", baseUrl: "https://api.openai.com/v1" },
  anthropic: { kind: "anthropic", baseUrl: "https://api.anthropic.com" },
  google: { kind: "google", baseUrl: "https://generativelanguage.googleapis.com" },
  xai: { kind: "xai", baseUrl: "https://api.x.ai/v1" },
  deepseek: { kind: "openai-compatible", preset: "deepseek", baseUrl: "https://api.deepseek.com" },
  mistral: { kind: "openai-compatible", preset: "mistral", baseUrl: "https://api.mistral.ai/v1" },
  byteplus: { kind: "byteplus", baseUrl: "https://ark.ap-southeast.bytepluses.com/api/v3" },
};

const chatModels = [
  "openai/gpt-5.5",
  "openai/gpt-6.1-sol",
  "openai/gpt-4o-mini",
  "anthropic/claude-opus-5",
  "anthropic/claude-haiku-5-5",
  "google/gemini-4-argon",
  "google/gemini-2.5-flash",
  "xai/grok-4.7",
  "deepseek/deepseek-chat",
  "mistral/mistral-large-4",
  "byteplus/seed-1-8-251228",
];

const pictures: readonly (readonly [string, object])[] = [
  ["openai/gpt-image-1.5", { size: "1024x1024", quality: "medium" }],
  ["openai/gpt-image-1.5", { size: "1024x1024", quality: "high" }],
  ["google/gemini-2.5-flash-image", {}],
  ["xai/grok-imagine-image", {}],
  ["byteplus/seedream-5-0-260128", {}],
];

const transcribers = [
  "openai/whisper-1",
  "openai/gpt-4o-transcribe",
  "mistral/voxtral-mini-transcribe-3",
  "xai/grok-stt",
];

/** Returns docs/money.md with its tables of holds. Throws if the markers around them are missing. */
export function withHolds(document: string): string {
  const [before, rest, ...more] = document.split(begin);
  const [, after, ...later] = rest?.split(end) ?? [];
  if (before === undefined || after === undefined || more.length + later.length > 0) {
    throw new Error(`docs/money.md needs these two lines around its tables of holds, once:\n${begin}\n${end}`);
  }
  const tables = [helloTable(), mediaTable()].join("\n\n");
  return `${before}${begin}\n\n${tables}\n\n${end}${after}`;
}

interface Model {
  choice: ProviderChoice;
  name: string;
  price: ModelPrice;
}

function modelOf(id: string): Model {
  const [prefix = "", name = ""] = id.split("/");
  const choice = choices[prefix];
  if (choice === undefined) throw new Error(`no provider ${prefix}`);
  const price = book.lookup({ id, model: name, priceProvider: createProvider(choice).priceProvider });
  if (price === undefined) throw new Error(`no price for ${id}`);
  return { choice, name, price };
}

function helloTable(): string {
  const rows = chatModels.map((id) => {
    const [whole, streamed] = [hello(id, false), hello(id, true)];
    return [`\`${id}\``, ...whole, ...streamed];
  });
  const pro = helloTo("openai/o1-pro", "responses", false);
  rows.push(["`openai/o1-pro` (Responses)", ...pro, ...helloTo("openai/o1-pro", "responses", true)]);
  return table(['"Hello" to', "whole", "at once", "streamed", "at once"], rows);
}

const hello = (id: string, streamed: boolean): string[] => helloTo(id, "chat", streamed);

/** The hold of a "Hello" with default parameters, and how many fit into the balance. */
function helloTo(id: string, dialect: "chat" | "responses", streamed: boolean): string[] {
  const { choice, name, price } = modelOf(id);
  const limit = createProvider(choice).operations[dialect]?.outputLimit;
  if (limit === undefined) throw new Error(`${id} has no limit`);
  const bound = helloBound(id, dialect);
  const hidesThought = limit.hidesThought(name, {});
  const output = outputHold({ price, bound, streamed, hidesThought, isAnswerOnly: false, limitMin: limit.min });
  return shown(new WorkCost({ price, bound }).ofBound(output.wanted));
}

function helloBound(model: string, dialect: "chat" | "responses"): WorkBound {
  if (dialect === "responses")
    return responsesCodec.bound(responsesRequest.parse({ model, input: "Hello" }), decodedSizeOf);
  return chatCodec.bound(chatRequest.parse({ model, messages: [{ role: "user", content: "Hello" }] }), decodedSizeOf);
}

function mediaTable(): string {
  const images = pictures.map(([id, body]) => {
    const variant = Object.values(body).join(", ");
    return [`a picture by \`${id}\`${variant === "" ? "" : ` (${variant})`}`, ...shown(pictureHold(id, body))];
  });
  const hours = transcribers.map((id) => [`an hour of speech to \`${id}\``, ...shown(hourHold(id))]);
  return table(["", "hold", "at once"], [...images, ...hours]);
}

function pictureHold(id: string, asked: object): Nano {
  const { choice, name, price } = modelOf(id);
  const operation = createProvider(choice).operations.image_generation;
  const body = imageGenerationRequest.parse({ model: id, prompt: "A cat on a bicycle", ...asked });
  const bound = imageGenerationCodec.bound(body, decodedSizeOf, []);
  const each = operation?.imageUsageMax?.({ ...asked }, name);
  const { outputImages } = bound;
  const billed =
    outputImages === undefined || each === undefined ? bound : { ...bound, outputImages: { ...outputImages, each } };
  return new WorkCost({ price, bound: billed }).ofBound(undefined);
}

function hourHold(id: string): Nano {
  const { price } = modelOf(id);
  const file: CallFile = {
    field: "file",
    filename: "hour.mp3",
    contentType: "audio/mpeg",
    size: 28_800_000,
    milliseconds: 3_600_000,
    read: () => Promise.reject(new Error("only measured")),
  };
  const bound = transcriptionCodec.bound(transcriptionForm.parse({ model: id }), decodedSizeOf, [file]);
  return new WorkCost({ price, bound }).ofBound(undefined);
}

function shown(hold: Nano): string[] {
  // Four decimals, rounded up.
  const rounded = ((hold + 99_999n) / 100_000n) * 100_000n;
  return [formatCredits(rounded), (BALANCE / hold).toLocaleString("en")];
}
