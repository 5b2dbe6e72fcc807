/** The tools that the official suite names for tasks (the extension `io.modelcontextprotocol/tasks`). */
import { textResult } from "../tool-server.ts";

type Json = Record<string, unknown>;

const extension = "io.modelcontextprotocol/tasks";

interface Task {
  facts: Json & { taskId: string; status: string };
  /** By the keys of the questions that it has asked. */
  answers: Json;
  onChange: () => void;
}

const elicit = (message: string): Json => ({
  method: "elicitation/create",
  params: { mode: "form", message, requestedSchema: { type: "object", properties: { name: { type: "string" } } } },
});

class Tasks {
  readonly #tasks = new Map<string, Task>();

  begin(work: (task: Task) => Promise<Json>): Json {
    const now = new Date().toISOString();
    const facts = { taskId: crypto.randomUUID(), status: "working", createdAt: now, lastUpdatedAt: now };
    const task: Task = { facts, answers: {}, onChange: () => undefined };
    this.#tasks.set(facts.taskId, task);
    void work(task).then((outcome) => change(task, outcome));
    return { resultType: "task", ...facts, ttlMs: 60_000, pollIntervalMs: 100 };
  }

  get(id: unknown): Json | undefined {
    const task = this.#tasks.get(String(id));
    return task && { resultType: "complete", ...task.facts, ttlMs: 60_000, pollIntervalMs: 100 };
  }

  cancel(id: unknown): Json | undefined {
    const task = this.#tasks.get(String(id));
    if (task !== undefined) change(task, { status: "cancelled" });
    return task && { resultType: "complete" };
  }

  update(id: unknown, answers: Json): Json | undefined {
    const task = this.#tasks.get(String(id));
    if (task === undefined) return undefined;
    const asked = (task.facts["inputRequests"] ?? {}) as Json;
    for (const key of Object.keys(answers)) if (key in asked) task.answers[key] = answers[key];
    const left = Object.entries(asked).filter(([key]) => !(key in task.answers));
    task.facts["inputRequests"] = Object.fromEntries(left);
    task.onChange();
    return { resultType: "complete" };
  }
}

/** A task that has ended stays as it is. */
function change({ facts }: Task, changed: Json): void {
  if (["completed", "failed", "cancelled"].includes(facts.status)) return;
  delete facts["inputRequests"];
  Object.assign(facts, changed, { lastUpdatedAt: new Date().toISOString() });
}

const completed = (result: Json): Json => ({ status: "completed", result });

async function ask(task: Task, questions: Json): Promise<Json> {
  change(task, { status: "input_required" });
  task.facts["inputRequests"] = questions;
  await new Promise<void>((resolve) => {
    task.onChange = () => {
      if (Object.keys(questions).every((key) => key in task.answers)) resolve();
    };
  });
  change(task, { status: "working" });
  return task.answers;
}

const jobs: Readonly<Record<string, (task: Task, given: Json) => Promise<Json>>> = {
  async slow_compute(_task, { seconds, label }) {
    await Bun.sleep(Number(seconds) * 1_000);
    return completed(textResult(`computed ${String(label)}`));
  },
  failing_job: () => Promise.resolve(completed({ ...textResult("It has failed."), isError: true })),
  protocol_error_job: () => Promise.resolve({ status: "failed", error: { code: -32_603, message: "It broke." } }),
  async confirm_delete(task, { filename }) {
    await ask(task, { confirm: elicit(`Delete ${String(filename)}?`) });
    return completed(textResult(`deleted ${String(filename)}`));
  },
  async multi_input(task) {
    await ask(task, { first: elicit("The first?"), second: elicit("The second?") });
    return completed(textResult("done"));
  },
  test_tool_with_task: (_task, { name }) => Promise.resolve(completed(textResult(`Hello, ${String(name)}`))),
};

const unknown: Json = { refusal: { code: -32_602, message: "There is no such task." } };
const missing: Json = {
  code: -32_021,
  message: "The client must follow tasks.",
  data: { requiredCapabilities: { extensions: { [extension]: {} } } },
};

/** It asks before it begins a task. */
const asking = "test_tool_with_task";

function nameIn(params: Json): unknown {
  const responses = (params["inputResponses"] ?? {}) as { user_name?: { content?: Json } };
  return responses.user_name?.content?.["name"];
}

interface TaskFixture {
  /** The result of a tool; undefined for one that is not of this part. */
  call(params: Json): Json | undefined;
  /** The result of a method about tasks. */
  answer(method: string, params: Json): Json | undefined;
}

export const taskTools = ["greet", ...Object.keys(jobs)];

export function createTaskFixture(): TaskFixture {
  const tasks = new Tasks();
  return {
    call(params) {
      const name = String(params["name"]);
      const given = (params["arguments"] ?? {}) as Json;
      if (name === "greet") return { resultType: "complete", ...textResult(`Hello, ${String(given["name"])}!`) };
      if (name === asking && nameIn(params) === undefined)
        return { resultType: "input_required", inputRequests: { user_name: elicit("Your name?") } };
      const work = jobs[name];
      if (work === undefined) return undefined;
      if (follows(params)) return tasks.begin((task) => work(task, { name: nameIn(params), ...given }));
      return name === "failing_job" ? { error: missing } : textResult(`computed ${String(given["label"])}`);
    },
    answer(method, { taskId, inputResponses, ...params }) {
      if (!method.startsWith("tasks/")) return undefined;
      if (!follows(params)) return { refusal: missing };
      if (method === "tasks/get") return tasks.get(taskId) ?? unknown;
      if (method === "tasks/cancel") return tasks.cancel(taskId) ?? unknown;
      if (method === "tasks/update") return tasks.update(taskId, (inputResponses ?? {}) as Json) ?? unknown;
      return undefined;
    },
  };
}

function follows(params: Json): boolean {
  const meta = (params["_meta"] ?? {}) as Record<string, { extensions?: Json }>;
  return extension in (meta["io.modelcontextprotocol/clientCapabilities"]?.extensions ?? {});
}
