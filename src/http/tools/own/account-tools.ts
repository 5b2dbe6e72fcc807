import { z } from "zod";
import { GatewayError, listOf, objectsOf, stringOf } from "../../../core/index.ts";
import { userInfoRoute } from "../../account/user-info.ts";
import { modelsRoute } from "../../models/models.ts";
import { askJson, askRoute, jsonOf } from "./ask-route.ts";
import { getJob } from "./jobs.ts";
import type { OwnTool } from "./own-tool.ts";

const MODELS = 50;
const MODELS_MAX = 1_000;

const modelsArguments = z.object({
  q: z.string().max(200).optional().describe("A part of the model's id."),
  operation: z.string().max(50).optional().describe("Such as chat, embeddings, image_generation or speech."),
  limit: z.number().int().min(1).max(MODELS_MAX).default(MODELS).describe(`The most models; ${MODELS} by default.`),
});

export const modelsList: OwnTool = {
  name: "models_list",
  title: "List models",
  description: "Lists the models that the caller may use, with what they do and cost.",
  input: modelsArguments,
  isReadOnly: true,
  async call(call) {
    const read = modelsArguments.safeParse(call.arguments);
    if (!read.success) throw invalid(read.error.issues[0]);
    const { q = "", operation, limit } = read.data;
    const { data } = await jsonOf(await askRoute(modelsRoute, call, {}));
    const found = objectsOf(data).filter(
      ({ id, operations }) =>
        stringOf(id).toLowerCase().includes(q.toLowerCase()) &&
        (operation === undefined || listOf(operations).includes(operation)),
    );
    const answer = { object: "list", data: found.slice(0, limit), total: found.length };
    return { result: { content: [{ type: "text", text: JSON.stringify(answer) }], structuredContent: answer } };
  },
};

function invalid(issue: z.core.$ZodIssue | undefined): GatewayError {
  const param = issue?.path.join(".") ?? "";
  return new GatewayError("validation_failed", `${param}: ${issue?.message ?? "not valid"}`, { param });
}

export const budgetGet: OwnTool = {
  name: "budget_get",
  title: "What may be spent",
  description: "Returns the caller's credits: the balance, what is spent, and what a call may cost at most.",
  input: z.object({}),
  isReadOnly: true,
  call: (call) => askJson(userInfoRoute, call, {}),
};

export const jobGet: OwnTool = {
  name: "job_get",
  title: "Follow a job",
  description:
    "Returns the state of a crawl or a video by the id that web_crawl or video_generate has returned, and its result.",
  input: z.object({
    id: z.string().describe("The id, such as crawl:… or video:…"),
    wait_seconds: z.number().int().min(0).max(45).optional().describe("How long to wait for the end; 0 by default."),
    skip: z.number().int().min(0).optional().describe("Pages of a crawl that are left out."),
    limit: z.number().int().min(1).max(1_000).optional().describe("The most pages; 25 by default."),
  }),
  isReadOnly: true,
  call: getJob,
};
