import { useMutation } from "@tanstack/react-query";
import { type SyntheticEvent, useState } from "react";
import { ApiError, send } from "../../api/client.ts";
import { useApi } from "../../api/queries.ts";
import type { Model } from "../../api/types.ts";
import { Amount, durationText } from "../../money/amount.tsx";
import { decimalOf } from "../../money/decimal.ts";
import { Button } from "../../ui/button.tsx";
import { Modal } from "../../ui/modal.tsx";
import { SelectField } from "../../ui/select-field.tsx";

interface Outcome {
  text: string;
  credits: string;
  milliseconds: number;
  requestId: string | null;
}

interface ChatAnswer {
  choices?: { message?: { content?: string | null } }[];
}

/** One short call, made and charged like any other. */
async function testCall(model: string): Promise<Outcome> {
  const begun = performance.now();
  const messages = [{ role: "user", content: "Say hello in one word." }];
  const body = { model, messages, max_completion_tokens: 64 };
  const headers = { "x-tollgate-fallback": "none" };
  const response = await send("/v1/chat/completions", { method: "POST", body, headers });
  const answer = (await response.json()) as ChatAnswer;
  return {
    text: answer.choices?.[0]?.message?.content ?? "",
    credits: response.headers.get("x-tollgate-credits") ?? "0",
    milliseconds: performance.now() - begun,
    requestId: response.headers.get("x-request-id"),
  };
}

/** A button for a call to one of the provider's models, and its outcome with its price. */
export function TestCall({ provider }: { provider: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button aria-label={`Test ${provider}`} onClick={() => setOpen(true)}>
        Test…
      </Button>
      <Modal title={`A call to ${provider}`} isOpen={isOpen} close={() => setOpen(false)}>
        <TestForm provider={provider} />
      </Modal>
    </>
  );
}

function TestForm({ provider }: { provider: string }) {
  const { data } = useApi<{ data: Model[] }>("/v1/models");
  const models = (data?.data ?? []).filter(
    ({ id, operations }) => id.startsWith(`${provider}/`) && operations.includes("chat"),
  );
  const [chosen, setChosen] = useState("");
  const { mutate, data: outcome, error, isPending } = useMutation({ mutationFn: testCall });
  const model = chosen === "" ? (models[0]?.id ?? "") : chosen;
  const submit = (event: SyntheticEvent<HTMLFormElement>) => {
    event.preventDefault();
    mutate(model);
  };
  if (data !== undefined && models.length === 0)
    return <p className="text-soft">It has no model that generates text.</p>;
  return (
    <form onSubmit={submit}>
      <SelectField
        label="Model"
        value={model}
        options={Object.fromEntries(models.map(({ id }) => [id, id]))}
        onChange={setChosen}
      />
      <p className="mt-3 text-muted">It is asked for one word, and charged to you like any call.</p>
      <div role="status" className="mt-4">
        {error !== null && <Refusal error={error} />}
        {outcome !== undefined && <OutcomeView outcome={outcome} />}
      </div>
      <div className="mt-5 flex justify-end">
        <Button type="submit" kind="primary" disabled={isPending || model === ""}>
          Call
        </Button>
      </div>
    </form>
  );
}

function Refusal({ error }: { error: Error }) {
  const id = error instanceof ApiError ? error.requestId : null;
  return (
    <p className="text-bad [overflow-wrap:anywhere]">
      {error.message}
      {id !== null && <code className="mt-1 block font-mono text-xs text-muted select-all">{id}</code>}
    </p>
  );
}

function OutcomeView({ outcome: { text, credits, milliseconds, requestId } }: { outcome: Outcome }) {
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1.5">
      <dt className="text-muted">Answer</dt>
      <dd className="[overflow-wrap:anywhere]">{text}</dd>
      <dt className="text-muted">Credits</dt>
      <dd>
        <Amount value={decimalOf(credits)} />
      </dd>
      <dt className="text-muted">Duration</dt>
      <dd>{durationText(milliseconds)}</dd>
      <dt className="text-muted">Request</dt>
      <dd className="font-mono text-xs leading-5 select-all [overflow-wrap:anywhere]">{requestId}</dd>
    </dl>
  );
}
