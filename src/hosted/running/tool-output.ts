/** The results of tools: the output of code that was run, passages of files, images. */
import { type JsonObject, objectOf, objectsOf, parseObject, stringOf } from "../../core/index.ts";

/** One run of code. */
export interface CodeOutput {
  stdout: string;
  stderr: string;
  exitCode: number;
  /** Data URLs. */
  images: readonly string[];
}

/** An image that was made. */
export interface DrawnImage {
  /** Base64. */
  data: string;
  /** As the item describes it: its size, its quality … */
  described: JsonObject;
}

type ShownOutput = Omit<CodeOutput, "images"> & Partial<Pick<CodeOutput, "images">>;

/** A passage of a file. */
export interface FoundPassage {
  fileId: string;
  filename: string;
  score: number;
  text: string;
}

/** The output of a file that was created: its block in Messages has none. */
export const FILE_WRITTEN = "The file is written.";

/** The most characters of the texts of one use of a tool, and of its images. */
export const RESULT_CHARACTERS_MAX = 200_000;
const IMAGE_CHARACTERS_MAX = 8_000_000;
const IMAGES_MAX = 8;
const PASSAGES_MAX = 50;

/** Of the name and the id of a file. */
const FILE_NAME_CHARACTERS_MAX = 1_000;

/** The room that one use of a tool has for the results of all its calls. */
export class ResultRoom {
  #characters = RESULT_CHARACTERS_MAX;
  #imageCharacters = IMAGE_CHARACTERS_MAX;
  #images = IMAGES_MAX;

  get isFull(): boolean {
    return this.#characters <= 0;
  }

  /** The part of a text for which there is room. */
  take(text: string): string {
    const part = text.slice(0, this.#characters);
    this.#characters -= part.length;
    return part;
  }

  /** Whether there is room for an image, which takes it then. After one without room there is none. */
  takesImage({ length }: string): boolean {
    if (this.#images <= 0) return false;
    this.#images = length > this.#imageCharacters ? 0 : this.#images - 1;
    this.#imageCharacters -= length;
    return this.#imageCharacters >= 0;
  }
}

/** The output in the members that sandboxes have for it; else all texts are the output. */
export function codeOutputOf(result: JsonObject, room: ResultRoom): CodeOutput {
  const failed = result["isError"] === true;
  const texts = isPicture(result) ? "" : textOf(result);
  const { stdout, stderr, ...rest } = outputIn(result) ?? (failed ? { stderr: texts } : { stdout: texts });
  const code = [rest["exit_code"], rest["exitCode"], rest["return_code"], rest["returncode"]].find(Number.isInteger);
  return {
    stdout: room.take(stringOf(stdout)),
    stderr: room.take(stringOf(stderr)),
    exitCode: typeof code === "number" ? code : failed ? 1 : 0,
    images: imagesIn(result, room),
  };
}

/** Whether a result is images alone. */
function isPicture({ content, structuredContent }: JsonObject): boolean {
  return structuredContent === undefined && objectsOf(content).every(({ type }) => type === "image");
}

/** As the model gets it. */
export function textOfOutput({ stdout, stderr, exitCode, images = [] }: ShownOutput): string {
  const ended = exitCode === 0 ? "" : `exit code ${exitCode}`;
  const drawn = images.length === 0 ? "" : "The user sees the image.";
  return [stdout, stderr, drawn, ended].filter((part) => part !== "").join("\n") || "There is no output.";
}

function outputIn(result: JsonObject): JsonObject | undefined {
  const { structuredContent } = result;
  const structured = objectOf(structuredContent) ?? parseObject(textOf(result));
  return [structured, objectOf(structured?.["result"])].find(
    (one) => typeof one?.["stdout"] === "string" || typeof one?.["stderr"] === "string",
  );
}

function imagesIn({ content }: JsonObject, room: ResultRoom): string[] {
  return objectsOf(content).flatMap(({ type, data, mimeType }) =>
    type === "image" && typeof data === "string" && room.takesImage(data)
      ? [`data:${stringOf(mimeType) || "image/png"};base64,${data}`]
      : [],
  );
}

/** The texts of a result; of one without any, its data. */
export function textOf({ content, structuredContent }: JsonObject): string {
  const texts = objectsOf(content).flatMap(({ type, text }) => (type === "text" ? [stringOf(text)] : []));
  if (texts.length > 0) return texts.join("\n");
  return JSON.stringify(structuredContent ?? objectsOf(content).map(withoutBytes));
}

function withoutBytes(part: JsonObject): JsonObject {
  const { data: _, ...rest } = part;
  return rest;
}

/** The passages in a list of the result's data, or in its texts as JSON; else each text is one. */
export function passagesIn(result: JsonObject, name: string, room: ResultRoom): FoundPassage[] {
  const { content, structuredContent } = result;
  const parts = objectsOf(content);
  const parsed = parts.map(({ text }) => parseObject(stringOf(text))).filter((one) => one !== undefined);
  const listed = listIn(objectOf(structuredContent)) ?? (parsed.length === 1 ? listIn(parsed[0]) : undefined);
  const objects = listed ?? (parsed.every(isPassage) ? parsed : []);
  const found =
    objects.length > 0 ? objects.map((one) => passageOf(one, name)) : parts.flatMap((one) => plain(one, name));
  return found
    .filter(({ text }) => text !== "")
    .slice(0, PASSAGES_MAX)
    .flatMap((passage) => (room.isFull ? [] : cut(passage, room)));
}

function cut({ fileId, filename, score, text }: FoundPassage, room: ResultRoom): FoundPassage {
  return {
    fileId: room.take(fileId.slice(0, FILE_NAME_CHARACTERS_MAX)),
    filename: room.take(filename.slice(0, FILE_NAME_CHARACTERS_MAX)),
    score,
    text: room.take(text),
  };
}

function listIn(data: JsonObject | undefined): JsonObject[] | undefined {
  return Object.values(data ?? {})
    .map((value) => objectsOf(value))
    .find((list) => list.length > 0 && list.every(isPassage));
}

const isPassage = (one: JsonObject): boolean => textIn(one) !== "";

/** OpenAI's own searches have a list of texts. */
function textIn({ text, content, snippet }: JsonObject): string {
  const parts = objectsOf(content).map((part) => stringOf(part["text"]));
  return stringOf(text) || stringOf(content) || stringOf(snippet) || parts.join("\n");
}

function passageOf(one: JsonObject, name: string): FoundPassage {
  const names = [one["filename"], one["file_name"], one["title"], one["path"], one["uri"], one["url"]].map(stringOf);
  const { score } = one;
  return {
    fileId: stringOf(one["file_id"]) || stringOf(one["id"]),
    filename: names.find((each) => each !== "") ?? name,
    score: typeof score === "number" && score >= 0 && score <= 1 ? score : 0,
    text: textIn(one),
  };
}

function plain({ type, text, resource }: JsonObject, name: string): FoundPassage[] {
  if (type === "text") return [{ fileId: "", filename: name, score: 0, text: stringOf(text) }];
  const { uri, text: own } = objectOf(resource) ?? {};
  return typeof own === "string"
    ? [{ fileId: stringOf(uri), filename: stringOf(uri) || name, score: 0, text: own }]
    : [];
}
