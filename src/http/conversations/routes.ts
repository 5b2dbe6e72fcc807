import { z } from "@hono/zod-openapi";
import { type BodyLimits, decodeBody, parseBody, readBody } from "../../bodies/index.ts";
import type { AdmitFree } from "../../charges/index.ts";
import { type JsonObject, limits, listOf, objectOf } from "../../core/index.ts";
import { type Conversations, itemPage, readItemPage, type StoredConversation } from "../../objects/index.ts";
import type { MemoryBudget } from "../../streaming/index.ts";
import { platformRoute, type RouteCall } from "../route.ts";

const METADATA_MAX = 16;

const metadata = z
  .record(z.string().max(64), z.string().max(512))
  .refine((given) => Object.keys(given).length <= METADATA_MAX, `has more than ${METADATA_MAX} members`);
const item = z.looseObject({ type: z.string().nullish(), role: z.string().nullish() });
const items = z.array(item).max(limits.conversationItemsMax);

const createRequest = z
  .looseObject({ metadata: metadata.nullish(), items: items.nullish() })
  .meta({ id: "CreateConversationRequest" });
const updateRequest = z.looseObject({ metadata }).meta({ id: "UpdateConversationRequest" });
const addRequest = z.looseObject({ items }).meta({ id: "CreateConversationItemsRequest" });

const conversation = z
  .object({
    id: z.string(),
    object: z.literal("conversation"),
    created_at: z.number().int().describe("Unix seconds."),
    metadata: z.record(z.string(), z.unknown()),
  })
  .meta({ id: "Conversation" });
const list = z.object({
  object: z.literal("list"),
  data: z.array(z.looseObject({})),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean(),
});

const params = z.object({ conversation_id: z.string().describe("A conversation's id.") });
const itemParams = params.extend({ item_id: z.string().describe("An item's id.") });
const notFound = "The caller has no such conversation or item.";
const tag = "Responses";
const path = "/v1/conversations";
const one = `${path}/{conversation_id}`;

interface Needs {
  conversations: Conversations;
  admitFree: AdmitFree;
  body: BodyLimits;
  memory: MemoryBudget;
}

const shown = ({ id, createdAt, metadata: own }: StoredConversation): Response =>
  Response.json({ id, object: "conversation", created_at: Math.floor(createdAt / 1_000), metadata: own });

/** The validated body, with its long texts. A request without one is `{}`. Counts against the token's requests a minute. */
async function bodyOf(
  { request, requestId, principal }: RouteCall,
  { admitFree, body: bounds, memory }: Needs,
  schema: z.ZodType,
): Promise<JsonObject> {
  await admitFree({ requestId, principal, operation: "responses" });
  const share = memory.share();
  try {
    const bytesMax = Math.min(bounds.bytesMax, limits.storedRoundBytesMax);
    const bytes = await readBody(request, { ...bounds, bytesMax }, share);
    const body = decodeBody(parseBody(bytes.length === 0 ? Buffer.from("{}") : bytes, schema, []));
    // With its long texts.
    parseBody(Buffer.from(JSON.stringify(body)), schema, []);
    return body;
  } finally {
    share.free();
  }
}

const itemsIn = (body: JsonObject): JsonObject[] => listOf(body["items"]).map((each) => objectOf(each) ?? {});

export const createConversationRoute = platformRoute({
  contract: {
    method: "post",
    path,
    operationId: "createConversation",
    tag,
    summary: "Create a conversation, which calls of Responses add to.",
    body: createRequest,
    answer: conversation,
  },
  access: "token",
  async handle(call, needs: Needs) {
    const body = await bodyOf(call, needs, createRequest);
    const start = { metadata: objectOf(body["metadata"]) ?? {}, items: itemsIn(body) };
    return shown(await needs.conversations.create(call.principal, start));
  },
});

const idOf = ({ pathParameter }: RouteCall): string => pathParameter("conversation_id");

export const getConversationRoute = platformRoute({
  contract: {
    path: one,
    operationId: "getConversation",
    tag,
    summary: "A conversation of the caller.",
    params,
    answer: conversation,
    notFound,
  },
  access: "token",
  handle: async (call, { conversations }: Needs) => shown(await conversations.find(idOf(call), call.principal)),
});

export const updateConversationRoute = platformRoute({
  contract: {
    method: "post",
    path: one,
    operationId: "updateConversation",
    tag,
    summary: "Replaces the metadata of a conversation.",
    params,
    body: updateRequest,
    answer: conversation,
    notFound,
  },
  access: "token",
  async handle(call, needs: Needs) {
    const body = await bodyOf(call, needs, updateRequest);
    return shown(await needs.conversations.update(idOf(call), call.principal, objectOf(body["metadata"]) ?? {}));
  },
});

export const deleteConversationRoute = platformRoute({
  contract: {
    method: "delete",
    path: one,
    operationId: "deleteConversation",
    tag,
    summary: "Forgets a conversation with its items.",
    params,
    answer: z.object({ id: z.string(), object: z.literal("conversation.deleted"), deleted: z.literal(true) }),
    notFound,
  },
  access: "token",
  async handle(call, { conversations }: Needs) {
    await conversations.remove(idOf(call), call.principal);
    return Response.json({ id: idOf(call), object: "conversation.deleted", deleted: true });
  },
});

export const listConversationItemsRoute = platformRoute({
  contract: {
    path: `${one}/items`,
    operationId: "listConversationItems",
    tag,
    summary: "The items of a conversation, newest first by default.",
    params,
    query: z.object({
      limit: z.coerce.number().int().min(1).max(100).optional(),
      order: z.enum(["asc", "desc"]).optional(),
      after: z.string().optional(),
    }),
    answer: list,
    notFound,
  },
  access: "token",
  async handle(call, { conversations }: Needs) {
    const page = readItemPage(call.request);
    return Response.json(itemPage(await conversations.items(idOf(call), call.principal), page));
  },
});

export const createConversationItemsRoute = platformRoute({
  contract: {
    method: "post",
    path: `${one}/items`,
    operationId: "createConversationItems",
    tag,
    summary: "Adds items to a conversation.",
    params,
    body: addRequest,
    answer: list,
    notFound,
  },
  access: "token",
  async handle(call, needs: Needs) {
    const body = await bodyOf(call, needs, addRequest);
    const added = await needs.conversations.add(idOf(call), call.principal, itemsIn(body));
    return Response.json(itemPage(added, { isAscending: true, limit: limits.conversationItemsMax, after: null }));
  },
});

export const getConversationItemRoute = platformRoute({
  contract: {
    path: `${one}/items/{item_id}`,
    operationId: "getConversationItem",
    tag,
    summary: "One item of a conversation.",
    params: itemParams,
    answer: z.looseObject({ id: z.string(), type: z.string() }),
    notFound,
  },
  access: "token",
  handle: async (call, { conversations }: Needs) =>
    Response.json(await conversations.item(idOf(call), call.pathParameter("item_id"), call.principal)),
});

export const deleteConversationItemRoute = platformRoute({
  contract: {
    method: "delete",
    path: `${one}/items/{item_id}`,
    operationId: "deleteConversationItem",
    tag,
    summary: "Removes one item from a conversation.",
    params: itemParams,
    answer: conversation,
    notFound,
  },
  access: "token",
  handle: async (call, { conversations }: Needs) =>
    shown(await conversations.removeItem(idOf(call), call.pathParameter("item_id"), call.principal)),
});
