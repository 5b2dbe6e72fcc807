/** What a text call's upstream demands and the body lacks is looked up before the plan: the bytes of images, earlier thoughts. */
import type { ParsedBody } from "../../bodies/index.ts";
import type { Principal } from "../../auth/index.ts";
import { GatewayError, type JsonObject, limits, listOf, objectOf } from "../../core/index.ts";
import {
  type AnswerThoughts,
  callsWithoutThoughts,
  type Conversation,
  type FetchedImages,
  imageAddresses,
  type TextCodec,
  thoughtsOfAnswer,
  translations,
} from "../../dialects/index.ts";
import type { KeptThoughts } from "../../objects/index.ts";
import type { Target } from "../../routing/index.ts";
import type { MemoryShare } from "../../streaming/index.ts";
import type { ImageFetcher } from "./fetch-images.ts";

/** Data that completes a body. */
export interface BodyPreparation {
  /** The body as a conversation; undefined if it cannot be read, which is the exchange's to refuse. */
  conversation?: Conversation | undefined;
  images?: FetchedImages | undefined;
  /** The thoughts of earlier answers that the client has lost, by the ids of their first calls. */
  lostThoughts?: ReadonlyMap<string, string> | undefined;
  /** Collects those of the answer, if the client may lose them too. */
  answerThoughts?: AnswerThoughts | undefined;
}

export interface PreparationDependencies {
  images: Pick<ImageFetcher, "fetch">;
  keptThoughts: Pick<KeptThoughts, "find" | "keep">;
}

/** A body and its target. */
interface Preparing {
  deps: PreparationDependencies;
  target: Target;
  principal: Principal;
  /** With all strings decoded. */
  body: JsonObject;
  /** Counts the body, and what is fetched for it. */
  memory: MemoryShare;
}

/**
 * Chat has no documents by their addresses, and bodies of its own contain none. Gemini's have a media type, which other clients do
 * not name.
 */
function fetchesFiles({ operation }: Target, { dialect }: Pick<TextCodec<unknown>, "dialect">): boolean {
  return (operation.dialect === "chat" || operation.dialect === "gemini") && operation.dialect !== dialect;
}

/** Addresses in a Gemini body are its upstream's to fetch, if that has the dialect too. */
function fetchesImages({ operation, model }: Target, { dialect }: Pick<TextCodec<unknown>, "dialect">): boolean {
  if (operation.dialect === "gemini" && dialect === "gemini") return false;
  return operation.facts?.(model).inlineImages === true;
}

/** Whether the body may lack something that its upstream demands. */
export function mayLackSomething<Body>(
  target: Target,
  { body, text }: ParsedBody<Body>,
  codec: Pick<TextCodec<Body>, "dialect">,
): boolean {
  const facts = target.operation.facts?.(target.model);
  const fetches = fetchesImages(target, codec) || fetchesFiles(target, codec);
  if (fetches && beginsAddress.test(text)) return true;
  return facts?.needsThoughts === true && mayLoseThoughts(objectOf(body) ?? {}, codec.dialect);
}

/** A string that begins with `http:` or `https:`, also if its letters are escaped. */
const beginsAddress = /"(?:h|\\u00[46]8)(?:t|\\u00[57]4){2}(?:p|\\u00[57]0)(?:s|\\u00[57]3)?(?::|\\u003a)/i;

/** Clients of chat that return all thoughts will return those of the answer. */
function mayLoseThoughts({ tools, messages }: JsonObject, dialect: TextCodec<unknown>["dialect"]): boolean {
  if (listOf(tools).length === 0) return false;
  const answers = listOf(messages).filter((message) => objectOf(message)?.["role"] === "assistant");
  const returned = answers.filter((answer) => typeof objectOf(answer)?.["reasoning_content"] === "string");
  return dialect !== "chat" || answers.length === 0 || returned.length < answers.length;
}

/**
 * A call's target, and the data that its body lacks there. If earlier thoughts of the conversation can't be found any more, the
 * call goes to the provider's chat endpoint, since thinking can be switched off only there. Throws 422 for an image or a document that cannot be fetched.
 */
export async function prepareBody(
  preparing: Preparing,
  { dialect }: Pick<TextCodec<unknown>, "dialect">,
): Promise<{ target: Target; preparation: BodyPreparation }> {
  const { deps, target, body, memory } = preparing;
  const { operation, model, route } = target;
  const facts = operation.facts?.(model) ?? {};
  const conversation = readOrNone(body, dialect);
  if (conversation === undefined) return { target, preparation: {} };
  const kinds = [
    ...(fetchesImages(target, { dialect }) ? (["image"] as const) : []),
    ...(fetchesFiles(target, { dialect }) ? (["file"] as const) : []),
  ];
  const addresses = imageAddresses(conversation, kinds);
  const images = addresses.length === 0 ? undefined : await deps.images.fetch(addresses, memory);
  if (facts.needsThoughts !== true || conversation.tools.length === 0) {
    return { target, preparation: { conversation, images } };
  }
  const { areLost, ...thoughts } = await findThoughts(preparing, conversation);
  const { chat } = route.provider.operations;
  const isMoved = areLost && operation.dialect === "responses" && chat !== undefined;
  return {
    target: isMoved ? { ...target, operation: chat } : target,
    preparation: { conversation, images, ...thoughts },
  };
}

function readOrNone(body: JsonObject, dialect: TextCodec<unknown>["dialect"]): Conversation | undefined {
  try {
    return translations[dialect].readRequest(body);
  } catch (thrown) {
    if (thrown instanceof GatewayError) return undefined;
    throw thrown;
  }
}

/** `areLost`: an earlier answer has no thoughts any more, here or at the client. */
async function findThoughts(
  { deps: { keptThoughts }, principal, body }: Preparing,
  conversation: Conversation,
): Promise<Pick<BodyPreparation, "lostThoughts" | "answerThoughts"> & { areLost: boolean }> {
  const lost = callsWithoutThoughts(conversation);
  const isWhole = lost?.length === 0;
  const lostThoughts = lost === undefined || isWhole ? undefined : await keptThoughts.find(lost, principal);
  const returnsThem = isWhole && conversation.turns.some(({ role }) => role === "assistant");
  const isKept = !returnsThem && body["store"] !== false;
  return {
    areLost: !isWhole && lostThoughts === undefined,
    lostThoughts,
    answerThoughts: isKept ? thoughtsOfAnswer(limits.keptThoughtBytesMax) : undefined,
  };
}
