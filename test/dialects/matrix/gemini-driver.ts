import {
  ApiError,
  type Content,
  type GenerateContentParameters,
  GoogleGenAI,
  type Part,
  type UsageMetadata,
} from "@google/genai";
import { type Access, type Ask, type ClientResult, type Driver, notingFetch, png, tools } from "./driver.ts";

/** An answer, whole or gathered from its chunks. */
interface Gathered {
  parts: Part[];
  finish: string;
  usage: UsageMetadata | undefined;
}

/** Gemini with Google's SDK. */
export function geminiDriver({ url, token }: Access): Driver {
  const requestIds: string[] = [];
  let streamed = "";
  const client = new GoogleGenAI({ apiKey: token, httpOptions: { baseUrl: url, fetch: notingFetch(requestIds) } });

  async function readStream(body: GenerateContentParameters): Promise<Gathered> {
    const answer: Gathered = { parts: [], finish: "", usage: undefined };
    for await (const { candidates = [], usageMetadata } of await client.models.generateContentStream(body)) {
      const [candidate] = candidates;
      for (const part of candidate?.content?.parts ?? []) {
        answer.parts.push(part);
        if (part.thought !== true) streamed += part.text ?? "";
      }
      answer.finish = candidate?.finishReason ?? answer.finish;
      answer.usage = usageMetadata ?? answer.usage;
    }
    return answer;
  }

  async function readWhole(body: GenerateContentParameters): Promise<Gathered> {
    const { candidates = [], usageMetadata } = await client.models.generateContent(body);
    const [candidate] = candidates;
    return { parts: candidate?.content?.parts ?? [], finish: candidate?.finishReason ?? "", usage: usageMetadata };
  }

  async function tell(ask: Ask, contents: readonly Content[]): Promise<ClientResult> {
    const body = bodyOf(ask, contents);
    const { parts, finish, usage } = await (ask.stream === true ? readStream(body) : readWhole(body));
    const calls = parts.flatMap(({ functionCall: call }) => (call === undefined ? [] : [call]));
    return {
      text: textOf(parts, false),
      thoughts: textOf(parts, true),
      calls: calls.map(({ id = "", name = "", args }) => ({ id, name, arguments: JSON.stringify(args) })),
      stop: finish === "MAX_TOKENS" ? "length" : calls.length > 0 ? "tools" : "end",
      usage: {
        input: usage?.promptTokenCount ?? 0,
        output: (usage?.totalTokenCount ?? 0) - (usage?.promptTokenCount ?? 0),
      },
      reply: (results, model = ask.model) => {
        const told = results.map((result, index): Part => {
          const { id, name = "" } = calls[index] ?? {};
          return { functionResponse: { ...(id !== undefined && { id }), name, response: { output: result } } };
        });
        return tell({ ...ask, model }, [...contents, { role: "model", parts }, { role: "user", parts: told }]);
      },
    };
  }

  return {
    requestIds,
    streamed: () => streamed,
    errorClass: () => ApiError,
    ask: (ask) => tell(ask, [{ role: "user", parts: partsOf(ask) }]),
  };
}

function textOf(parts: readonly Part[], thoughts: boolean): string {
  return parts.map(({ text = "", thought = false }) => (thought === thoughts ? text : "")).join("");
}

function partsOf({ text, image }: Ask): Part[] {
  return image === true ? [{ text }, { inlineData: { mimeType: "image/png", data: png } }] : [{ text }];
}

function bodyOf(ask: Ask, contents: readonly Content[]): GenerateContentParameters {
  const { model, tools: count = 0, thinks, schema, stop, tokensMax } = ask;
  const offered = tools
    .slice(0, count)
    .map(({ parameters, ...tool }) => ({ ...tool, parametersJsonSchema: parameters }));
  return {
    model,
    contents: [...contents],
    config: {
      ...(tokensMax === undefined ? {} : { maxOutputTokens: tokensMax }),
      ...(count === 0 ? {} : { tools: [{ functionDeclarations: offered }] }),
      ...(thinks === true ? { thinkingConfig: { thinkingBudget: 15_000, includeThoughts: true } } : {}),
      ...(schema === undefined ? {} : { responseMimeType: "application/json", responseJsonSchema: schema }),
      ...(stop === undefined ? {} : { stopSequences: [stop] }),
    },
  };
}
