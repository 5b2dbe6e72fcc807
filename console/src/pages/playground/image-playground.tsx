import { useMutation } from "@tanstack/react-query";
import type { SyntheticEvent } from "react";
import { send } from "../../api/client.ts";
import { useWords } from "../../app/search.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorState } from "../../ui/states.tsx";
import { CallCost } from "./call-cost.tsx";
import { ModelField, useModel } from "./model-field.tsx";

interface Made {
  pictures: readonly string[];
  requestId: string | null;
}

interface ImageAnswer {
  data?: { b64_json?: string; url?: string }[];
}

async function makeImage(body: object): Promise<Made> {
  const response = await send("/v1/images/generations", { method: "POST", body });
  const { data = [] } = (await response.json()) as ImageAnswer;
  const pictures = data.flatMap(({ b64_json: bytes, url }) =>
    bytes === undefined ? (url === undefined ? [] : [url]) : [`data:image/png;base64,${bytes}`],
  );
  return { pictures, requestId: response.headers.get("x-request-id") };
}

const usual = ["openai/gpt-image-1"];

/** Pictures from a text. */
export function ImagePlayground() {
  const found = useModel("image_generation", usual);
  const { prompt = "" } = useWords();
  const { mutate, data, error, isPending, variables } = useMutation({ mutationFn: makeImage });
  const submit = (event: SyntheticEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    mutate({ model: form.get("model"), prompt: form.get("prompt"), n: Number(form.get("n")) });
  };
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-5 xl:grid-cols-[22rem_minmax(0,1fr)]">
      <form onSubmit={submit} className="card space-y-4 p-5">
        <ModelField found={found} />
        <label className="block">
          <span className="mb-1 block text-xs text-muted">Prompt</span>
          <textarea
            name="prompt"
            rows={4}
            required
            defaultValue={prompt}
            placeholder="a lighthouse at dusk"
            className="control h-auto! w-full py-2 leading-5"
          />
        </label>
        <label className="block">
          <span className="mb-1 block text-xs text-muted">Pictures</span>
          <input name="n" type="number" min={1} max={4} defaultValue={1} className="control figures w-full" />
        </label>
        <Button type="submit" kind="primary" disabled={isPending || found.id === ""} className="w-full">
          {isPending ? "Making …" : "Make"}
        </Button>
      </form>
      <section aria-label="Pictures" aria-live="polite" aria-busy={isPending} className="card min-h-80 p-5">
        {error !== null && <ErrorState error={error} retry={() => variables !== undefined && mutate(variables)} />}
        {data === undefined && error === null && (
          <p className="py-24 text-center text-muted">
            {isPending ? "It takes up to a minute." : "The pictures appear here."}
          </p>
        )}
        {data !== undefined && <Pictures made={data} />}
      </section>
    </div>
  );
}

function Pictures({ made: { pictures, requestId } }: { made: Made }) {
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        {pictures.map((url, index) =>
          url.startsWith("data:") ? (
            <a key={url} href={url} download={`picture-${index + 1}.png`}>
              <img
                src={url}
                alt={`Picture ${index + 1}, to be saved`}
                className="w-full rounded-lg border border-line"
              />
            </a>
          ) : (
            // The policy of the page loads nothing of other hosts.
            <a key={url} href={url} rel="noreferrer" className="text-accent underline underline-offset-4">
              Picture {index + 1}, at its provider
            </a>
          ),
        )}
      </div>
      {requestId !== null && <CallCost requestId={requestId} />}
    </>
  );
}
