/** Images of the hosted tool of Responses, made by the gateway's own tools: each is paid work of its own. */
import type { PaidRequest } from "../../charges/index.ts";
import {
  GatewayError,
  type JsonObject,
  objectOf,
  objectsOf,
  parseCredits,
  parseObject,
  stringOf,
  untilAborted,
} from "../../core/index.ts";
import type { ImageTool } from "../requests/asked-tools.ts";
import type { OwnTools } from "./own-tools.ts";
import { endsLoop } from "./part-of-loop.ts";
import { failedOutcome, type ToolOutcome } from "./tool-outcome.ts";
import { type DrawnImage, textOf } from "./tool-output.ts";

/** Settings of the request that the gateway's tools take as they are. */
const settings = ["size", "quality", "background", "output_format", "output_compression", "moderation"];

export function imageDefinition({ models, value }: ImageTool): { description: string; parameters: JsonObject } {
  const { editId } = models ?? {};
  const isFree = editId !== undefined && value["action"] !== "generate" && value["action"] !== "edit";
  const prompt = { type: "string", description: "The image in words, with all that matters in it." };
  const edit = {
    type: "boolean",
    description: "Whether to change the last images of this conversation, instead of making a new one.",
  };
  return {
    description: "Makes an image, which the user sees. Call it once for each image that the user asks for.",
    parameters: {
      type: "object",
      properties: { prompt, ...(isFree && { edit }) },
      required: ["prompt"],
      additionalProperties: false,
    },
  };
}

export interface ImageUse {
  tool: ImageTool;
  /** The model's JSON. */
  arguments: string;
  requestOf: (body: JsonObject) => PaidRequest;
  /** The last images of the conversation: data URLs and addresses. */
  pictures: () => readonly string[];
}

const PROMPT_CHARACTERS_MAX = 32_000;

/** Rejects as `useTool` does. */
export async function drawImage(own: Pick<OwnTools, "call" | "image">, use: ImageUse): Promise<ToolOutcome> {
  const input = parseObject(use.arguments);
  const { prompt, edit } = input ?? {};
  if (
    input === undefined ||
    typeof prompt !== "string" ||
    prompt.trim() === "" ||
    prompt.length > PROMPT_CHARACTERS_MAX
  )
    return failedOutcome("invalid_input", input ?? {});
  const asked = askedImage({ ...use, isEdit: edit === true }, prompt);
  if (asked === undefined) return failedOutcome("invalid_input", input, { message: NO_PICTURE });
  const { requestId, principal, headers, client } = use.requestOf({});
  try {
    const { signal } = client;
    const making = own.call({ ...asked, requestId, principal, headers, signal });
    // The provider goes on with an image whose client has left, and charges it; nobody waits for that here.
    const { result, headers: told } = await untilAborted(signal, making);
    const cost = parseCredits(told["x-tollgate-credits"] ?? "0");
    const data = await bytesIn(result, (url) => own.image(url, client.signal));
    if (typeof data !== "string") {
      const message = (data?.reason ?? textOf(result)).slice(0, MESSAGE_CHARACTERS_MAX);
      return { ...failedOutcome("unavailable", input, { message }), cost };
    }
    const image = { data, described: describedIn(result, asked) };
    const text = "The image is made, and the user sees it.";
    const kept = { image, keptCharacters: 2 * image.data.length };
    return { input, text, error: undefined, pages: [], cost, counts: false, ...kept };
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || endsLoop.has(thrown.code)) throw thrown;
    return failedOutcome("unavailable", input, { message: thrown.message });
  }
}

const MESSAGE_CHARACTERS_MAX = 2_000;
const NO_PICTURE = "there is no image in this conversation that could be changed. Make a new one.";

/** The call of the gateway's own tool; undefined for an edit of nothing. */
function askedImage(
  { tool: { models, value }, pictures, isEdit: wantsEdit }: ImageUse & { isEdit: boolean },
  prompt: string,
): { name: string; arguments: JsonObject } | undefined {
  const { id, model = "", editId } = models ?? {};
  const { action, input_fidelity: fidelity, input_image_mask: mask } = value;
  const isEdit = editId !== undefined && action !== "generate" && (wantsEdit || action === "edit");
  const given = settings.flatMap((name) => (value[name] == null ? [] : [[name, value[name]] as const]));
  // Others give links by default, which clients of the tool do not know.
  const format = OWN_FORMAT.test(model) ? {} : { response_format: "b64_json" };
  const common = { prompt, n: 1, ...Object.fromEntries(given), ...format };
  if (!isEdit) return { name: "image_generate", arguments: { ...common, model: id } };
  const image = pictures();
  if (image.length === 0) return undefined;
  const masked = stringOf(objectOf(mask)?.["image_url"]);
  const more = { ...(fidelity != null && { input_fidelity: fidelity }), ...(masked !== "" && { mask: masked }) };
  return { name: "image_edit", arguments: { ...common, ...more, image, model: editId } };
}

/** OpenAI's models that give bytes alone, and refuse the member. */
const OWN_FORMAT = /^(?:gpt-image|chatgpt-image)/;

/** Base64; undefined if the result has no image, and why it can't be read if it has only the address of one. */
async function bytesIn(
  { content, isError }: JsonObject,
  read: (url: string) => Promise<string>,
): Promise<string | { reason: string } | undefined> {
  if (isError === true) return undefined;
  const parts = objectsOf(content);
  const data = parts.find(({ type }) => type === "image")?.["data"];
  if (typeof data === "string") return data;
  const url = parts.find(({ type }) => type === "resource_link")?.["uri"];
  if (typeof url !== "string") return undefined;
  try {
    return await read(url);
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    return { reason: `The image was made, and can't be read: ${thrown.message}` };
  }
}

function describedIn(
  { structuredContent }: JsonObject,
  asked: { name: string; arguments: JsonObject },
): DrawnImage["described"] {
  const answer = objectOf(structuredContent) ?? {};
  const [first] = objectsOf(answer["data"]);
  const revised = stringOf(first?.["revised_prompt"]) || asked.arguments["prompt"];
  const shown = ["size", "quality", "background", "output_format"].flatMap((name) => {
    const value = answer[name] ?? asked.arguments[name];
    return typeof value === "string" ? [[name, value] as const] : [];
  });
  const action = asked.name === "image_edit" ? "edit" : "generate";
  return { revised_prompt: revised, action, ...Object.fromEntries(shown) };
}
