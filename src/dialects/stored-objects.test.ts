/** The references in bodies, and the objects in answers, of each dialect. */
import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../core/index.ts";
import { chatCodec, chatRequest, messagesCodec, messagesRequest, responsesCodec, responsesRequest } from "./index.ts";

/** `kind id at param` for each reference. */
const shown = (references: readonly { kind: string; id: string; param: string }[]): string[] =>
  references.map(({ kind, id, param }) => `${kind} ${id} at ${param}`);

const inChat = (body: JsonObject): string[] =>
  shown(
    chatCodec.objects.references(
      chatRequest.parse({ model: "p/m", messages: [{ role: "user", content: "x" }], ...body }),
    ),
  );
const inMessages = (body: JsonObject): string[] =>
  shown(
    messagesCodec.objects.references(
      messagesRequest.parse({ model: "p/m", max_tokens: 1, messages: [{ role: "user", content: "x" }], ...body }),
    ),
  );
const inResponses = (body: JsonObject): string[] =>
  shown(responsesCodec.objects.references(responsesRequest.parse({ model: "p/m", input: "x", ...body })));

const user = (...content: JsonObject[]): JsonObject => ({ role: "user", content });

describe("a chat body refers to", () => {
  test.each<[string, JsonObject, string[]]>([
    ["nothing", { messages: [user({ type: "text", text: "file_id" })], tools: [] }, []],
    [
      "files in parts",
      {
        messages: [
          user({ type: "file", file: { file_id: "file-1" } }, { type: "file", file_id: "f2" }),
          user(
            { type: "video_url", video_url: { url: "ms://f3" } },
            { type: "image_url", image_url: { url: "https://generativelanguage.googleapis.com/v1beta/files/f4" } },
            { type: "image_url", image_url: "asset://f5" },
            { type: "image_url", image_url: { url: "https://x.example/files/a.png" } },
          ),
        ],
      },
      [
        "file file-1 at messages.0.content.0.file.file_id",
        "file f2 at messages.0.content.1.file_id",
        "file ms://f3 at messages.1.content.0.video_url.url",
        "file https://generativelanguage.googleapis.com/v1beta/files/f4 at messages.1.content.1.image_url.url",
        "file asset://f5 at messages.1.content.2.image_url",
      ],
    ],
    [
      "an earlier spoken answer",
      { messages: [{ role: "assistant", content: null, audio: { id: "audio_1" } }] },
      ["audio audio_1 at messages.0.audio.id"],
    ],
    [
      "a named cache",
      {
        google: { cached_content: "cachedContents/1" },
        extra_body: { google: { cached_content: "cachedContents/2" } },
        cached_content: "cachedContents/3",
      },
      [
        "cache cachedContents/1 at google.cached_content",
        "cache cachedContents/2 at extra_body.google.cached_content",
        "cache cachedContents/3 at cached_content",
      ],
    ],
    [
      "an id that is no text",
      { messages: [user({ type: "file", file_id: ["f"] })] },
      ["file  at messages.0.content.0.file_id"],
    ],
  ])("%s", (_title, body, references) => expect(inChat(body)).toEqual(references));
});

describe("a Messages body refers to", () => {
  const input = { file_id: "mine", source: { file_id: "mine" }, container: "c" };

  test.each<[string, JsonObject, string[]]>([
    [
      "nothing in what it contains itself",
      {
        messages: [
          user({ type: "image", source: { type: "base64", data: "x" } }),
          { role: "assistant", content: [{ type: "tool_use", id: "t", name: "f", input }] },
          {
            role: "assistant",
            content: [
              {
                type: "code_execution_tool_result",
                tool_use_id: "s",
                content: { type: "x", content: [{ type: "code_execution_output", file_id: "file_1" }] },
              },
            ],
          },
        ],
        tools: [{ name: "f", input_schema: { properties: { file_id: { type: "string" } } } }],
        container: null,
        thread: { type: "start" },
      },
      [],
    ],
    [
      "files in blocks, on every level",
      {
        system: [{ type: "document", source: { type: "file", file_id: "f0" } }],
        messages: [
          user(
            { type: "image", source: { type: "file", file_id: "f1" } },
            { type: "container_upload", file_id: "f2" },
            {
              type: "tool_result",
              tool_use_id: "t",
              content: [{ type: "document", source: { type: "file", file_id: "f3" } }],
            },
            {
              type: "document",
              source: { type: "content", content: [{ type: "image", source: { type: "file", file_id: "f4" } }] },
            },
          ),
        ],
      },
      [
        "file f0 at system.0.source.file_id",
        "file f1 at messages.0.content.0.source.file_id",
        "file f2 at messages.0.content.1.file_id",
        "file f3 at messages.0.content.2.content.0.source.file_id",
        "file f4 at messages.0.content.3.source.content.0.source.file_id",
      ],
    ],
    ["a container", { container: "container_1" }, ["container container_1 at container"]],
    [
      "a container with skills, except Anthropic's",
      {
        container: {
          id: "container_1",
          skills: [
            { type: "anthropic", skill_id: "pptx" },
            { type: "custom", skill_id: "skill_1" },
          ],
        },
      },
      ["container container_1 at container", "skill skill_1 at container.skills.1.skill_id"],
    ],
    ["a new container with nothing", { container: { skills: [] } }, []],
    [
      "a thread, a message to compare with, and a profile",
      {
        thread: { type: "continue", previous_message_id: "msg_1" },
        diagnostics: { previous_message_id: "msg_2" },
        user_profile_id: "uprof_1",
      },
      [
        "message msg_1 at thread.previous_message_id",
        "message msg_2 at diagnostics.previous_message_id",
        "user_profile uprof_1 at user_profile_id",
      ],
    ],
  ])("%s", (_title, body, references) => expect(inMessages(body)).toEqual(references));
});

describe("a Responses body refers to", () => {
  const call = { type: "code_interpreter_call", id: "ci_1", container_id: "cntr_1", code: "1", outputs: null };

  test.each<[string, JsonObject, string[]]>([
    [
      "nothing in items that are whole, whoever made them",
      {
        input: [
          { type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text: "x" }] },
          { id: "msg_2", role: "user", content: "x" },
          { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "sealed" },
          { type: "function_call", id: "fc_1", call_id: "c", name: "f", arguments: '{"file_id":"x"}' },
          { type: "function_call_output", id: "fco_1", call_id: "c", output: "x" },
          { type: "image_generation_call", id: "ig_1", status: "completed", result: "aGk=" },
          { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search" } },
          { type: "compaction", id: "cmp_1", encrypted_content: "sealed" },
          { type: "mcp_approval_request", id: "mcpr_1", name: "f", server_label: "s", arguments: "{}" },
          { type: "mcp_approval_response", approval_request_id: "mcpr_1", approve: true },
          {
            role: "assistant",
            content: [{ type: "output_text", text: "x", annotations: [{ type: "file_citation", file_id: "file-1" }] }],
          },
          call,
        ],
        tools: [
          { type: "function", name: "f", parameters: { container: "x" } },
          { type: "computer_use_preview", environment: "browser" },
          { type: "mcp", server_label: "s", connector_id: "connector_gmail" },
        ],
      },
      [],
    ],
    [
      "items by id alone",
      {
        input: [
          { type: "item_reference", id: "msg_1" },
          { id: "msg_2" },
          { type: null, id: "msg_3" },
          { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "x" }] },
          { type: "reasoning", id: "rs_2", summary: [], encrypted_content: null },
          { type: "image_generation_call", id: "ig_1" },
          { type: "file_search_call", id: "fs_1", status: "completed" },
          { type: "mcp_approval_response", approval_request_id: "mcpr_1", approve: true },
          { type: "item_reference", id: 5 },
        ],
      },
      [
        "item msg_1 at input.0.id",
        "item msg_2 at input.1.id",
        "item msg_3 at input.2.id",
        "item rs_1 at input.3.id",
        "item rs_2 at input.4.id",
        "item ig_1 at input.5.id",
        "item fs_1 at input.6.id",
        "item mcpr_1 at input.7.approval_request_id",
        "item  at input.8.id",
      ],
    ],
    [
      "files in content and results",
      {
        input: [
          user({ type: "input_image", file_id: "f1" }, { type: "input_file", file_id: "f2" }),
          { type: "function_call_output", call_id: "c", output: [{ type: "input_file", file_id: "f3" }] },
          { type: "computer_call_output", call_id: "c", output: { type: "computer_screenshot", file_id: "f4" } },
        ],
      },
      [
        "file f1 at input.0.content.0.file_id",
        "file f2 at input.0.content.1.file_id",
        "file f3 at input.1.output.0.file_id",
        "file f4 at input.2.output.file_id",
      ],
    ],
    [
      "a conversation and a prompt",
      { conversation: "conv_1", prompt: { id: "pmpt_1", variables: {} } },
      ["conversation conv_1 at conversation", "prompt pmpt_1 at prompt"],
    ],
    ["a conversation as an object", { conversation: { id: "conv_1" } }, ["conversation conv_1 at conversation"]],
    [
      "everything that hosted tools use, and then the containers of earlier calls",
      {
        input: [call, { type: "shell_call", environment: { type: "container_reference", container_id: "cntr_2" } }],
        tools: [
          { type: "file_search", vector_store_ids: ["vs_1", "vs_2"] },
          { type: "collections_search", collection_ids: ["col_1"] },
          { type: "code_interpreter", container: "cntr_3" },
          { type: "code_interpreter", container: { type: "auto", file_ids: ["f1"] } },
          {
            type: "shell",
            environment: {
              type: "container_reference",
              container_id: "cntr_4",
              skills: [{ type: "skill_reference", skill_id: "skill_1" }],
            },
          },
          { type: "image_generation", input_image_mask: { file_id: "f2" } },
          { type: "namespace", tools: [{ type: "file_search", vector_store_ids: ["vs_3"] }] },
        ],
      },
      [
        "container cntr_1 at input.0.container_id",
        "container cntr_2 at input.1.container_id",
        "vector_store vs_1 at tools.0.vector_store_ids.0",
        "vector_store vs_2 at tools.0.vector_store_ids.1",
        "vector_store col_1 at tools.1.collection_ids.0",
        "container cntr_3 at tools.2.container",
        "file f1 at tools.3.container.file_ids.0",
        "container cntr_4 at tools.4.environment.container_id",
        "skill skill_1 at tools.4.environment.skills.0.skill_id",
        "file f2 at tools.5.input_image_mask.file_id",
        "vector_store vs_3 at tools.6.tools.0.vector_store_ids.0",
      ],
    ],
  ])("%s", (_title, body, references) => expect(inResponses(body)).toEqual(references));
});

describe("an answer creates", () => {
  const messages = { model: "p/m", max_tokens: 1, messages: [{ role: "user", content: "x" }] };

  test("in chat, spoken answers, if speech was requested", () => {
    const plain = chatRequest.parse({ model: "p/m", messages: messages.messages });
    expect(chatCodec.objects.created(plain)).toBeUndefined();
    const created = chatCodec.objects.created(chatRequest.parse({ ...plain, modalities: ["text", "audio"] }));
    const audio = { id: "audio_1", data: "" };
    for (const said of [{ message: { audio } }, { delta: { audio } }]) {
      expect(created?.read({ choices: [said] })).toEqual([{ kind: "audio", id: "audio_1" }]);
    }
    expect(created?.read({ choices: [{ delta: { audio: { data: "" } } }, { delta: {} }] })).toEqual([]);
  });

  test("in Messages, containers and files of hosted tools", () => {
    expect(messagesCodec.objects.created(messagesRequest.parse(messages))).toBeUndefined();
    const own = messagesRequest.parse({ ...messages, tools: [{ name: "f", input_schema: {} }, { type: "custom" }] });
    expect(messagesCodec.objects.created(own)).toBeUndefined();
    const body = messagesRequest.parse({ ...messages, tools: [{ type: "code_execution_20260120", name: "x" }] });
    const created = messagesCodec.objects.created(body);
    const container = { id: "container_1", expires_at: "" };
    const upload = { type: "container_upload", file_id: "file_1" };
    const result = { type: "bash_code_execution_tool_result", content: { content: [{ file_id: "file_2" }] } };
    const whole = { type: "message", id: "msg_1", container, content: [{ type: "text" }, upload, result] };
    expect(created?.read(whole)).toEqual([
      { kind: "container", id: "container_1" },
      { kind: "file", id: "file_1" },
      { kind: "file", id: "file_2" },
    ]);
    expect(created?.read({ type: "message_delta", delta: { container } })).toEqual([
      { kind: "container", id: "container_1" },
    ]);
    expect(created?.read({ type: "content_block_start", content_block: upload })).toEqual([
      { kind: "file", id: "file_1" },
    ]);
  });

  test("in Messages, the message of a thread", () => {
    const created = messagesCodec.objects.created(messagesRequest.parse({ ...messages, thread: { type: "start" } }));
    const message = { type: "message", id: "msg_1", container: null, content: [] };
    for (const answer of [message, { type: "message_start", message }]) {
      expect(created?.read(answer)).toEqual([{ kind: "message", id: "msg_1" }]);
    }
  });

  test("in Responses, its output items and their containers, and nothing that the caller sent", () => {
    const created = responsesCodec.objects.created(responsesRequest.parse({ model: "p/m", input: "x" }));
    const item = { type: "code_interpreter_call", id: "ci_1", container_id: "cntr_1" };
    const both = [
      { kind: "item", id: "ci_1" },
      { kind: "container", id: "cntr_1" },
    ] as const;
    const echoed = { instructions: [{ id: "msg_foreign" }], previous_response_id: "resp_foreign", tools: [item] };
    expect(created?.read({ object: "response", output: [item], ...echoed })).toEqual([...both]);
    expect(created?.read({ type: "response.output_item.added", item })).toEqual([...both]);
    expect(created?.read({ type: "response.completed", response: { output: [item], ...echoed } })).toEqual([...both]);
    expect(created?.read({ type: "response.created", response: { output: [] } })).toEqual([]);
  });
});
