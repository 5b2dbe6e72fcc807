import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type SyntheticEvent, useEffect, useRef, useState } from "react";
import { addressOf, ApiError } from "../../api/client.ts";
import { fetchSignIns, sessionKey, signIn } from "../../api/session.ts";
import { useWords } from "../../app/search.ts";
import { Button, buttonClass } from "../../ui/button.tsx";

/** The place that the user came from, if it is one of the console. */
function placeAfter(next: string | undefined): string {
  const path = next?.replace(/^\/console(?=\/|$)/, "");
  return path !== undefined && /^\/(?![/\\])/.test(path) ? path : "/";
}

/** Signs in by a token, or by the code in the address that a sandbox prints. */
export function Page() {
  const { next, error: refused, request_id: requestId = null } = useWords();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [error, setError] = useState<Error | undefined>(() =>
    refused === undefined ? undefined : new ApiError(refusalOf(refused, requestId)),
  );
  const [isBusy, setBusy] = useState(false);
  const enter = async (proof: Parameters<typeof signIn>[0]) => {
    setBusy(true);
    setError(undefined);
    try {
      const session = await signIn(proof);
      client.clear();
      client.setQueryData(sessionKey, session);
      await navigate({ href: `/console${placeAfter(next)}`, replace: true });
    } catch (reason) {
      setError(reason instanceof Error ? reason : new Error(String(reason)));
    } finally {
      setBusy(false);
    }
  };
  useCodeOfAddress((code) => void enter({ code }));
  const onSubmit = (event: SyntheticEvent<HTMLFormElement>) => {
    event.preventDefault();
    const token = new FormData(event.currentTarget).get("token");
    if (typeof token === "string" && token.trim() !== "") void enter({ token: token.trim() });
  };
  return (
    <main aria-busy={isBusy} className="grid min-h-dvh place-items-center px-4 py-10">
      <title>Sign in · Tollgate</title>
      <div className="card w-full max-w-sm p-7">
        <img src={iconAddress()} alt="" className="mb-5 size-9" />
        <h1 className="text-xl font-semibold tracking-tight">Sign in to Tollgate</h1>
        <p className="mt-1 text-muted">With a token of yours. The browser keeps a session, not the token.</p>
        <form onSubmit={onSubmit} className="mt-6 space-y-4">
          <label className="block">
            <span className="mb-1.5 block text-[0.8125rem] font-medium">Token</span>
            <input
              name="token"
              type="password"
              required
              autoComplete="current-password"
              spellCheck={false}
              placeholder="tg_…"
              className="control h-10 w-full font-mono"
              {...(error !== undefined && { "aria-invalid": true, "aria-describedby": "sign-in-error" })}
            />
          </label>
          {error !== undefined && <Refusal error={error} />}
          <Button kind="primary" type="submit" disabled={isBusy} className="h-10 w-full">
            Sign in
          </Button>
        </form>
        <SignIns page={`/console${placeAfter(next)}`} />
      </div>
    </main>
  );
}

/** What the address of the page has when an OpenID Provider has sent the browser back without a sign-in. */
function refusalOf(code: string, requestId: string | null) {
  const message =
    code === "issuer_unavailable"
      ? "The provider of the sign-in cannot be reached. Try again."
      : `The sign-in was refused (${code}).`;
  return { status: 401, code, message, requestId };
}

/** The sign-ins by OpenID Connect, if there are any. */
function SignIns({ page }: { page: string }) {
  const { data = [] } = useQuery({ queryKey: ["sign_in"], queryFn: fetchSignIns, staleTime: Infinity });
  if (data.length === 0) return null;
  return (
    <div className="mt-6 space-y-2 border-t border-line pt-6">
      {data.map(({ name, url }) => (
        <a key={name} href={addressOf(url, { return: page })} className={`${buttonClass} h-10 w-full`}>
          Sign in with {name}
        </a>
      ))}
    </div>
  );
}

function Refusal({ error }: { error: Error }) {
  const requestId = error instanceof ApiError ? error.requestId : null;
  return (
    <div role="alert" id="sign-in-error" className="rounded-lg bg-bad-wash px-3 py-2 text-[0.8125rem] text-bad">
      <p className="[overflow-wrap:anywhere]">{error.message}</p>
      {requestId !== null && <p className="mt-1 font-mono text-xs">{requestId}</p>}
    </div>
  );
}

/** The code is used at once, and leaves the address and the history. */
function useCodeOfAddress(enter: (code: string) => void): void {
  const isUsed = useRef(false);
  useEffect(() => {
    const code = location.hash.slice(1);
    if (code === "" || isUsed.current) return;
    isUsed.current = true;
    history.replaceState(history.state, "", location.pathname + location.search);
    enter(code);
  });
}

function iconAddress(): string {
  return document.querySelector<HTMLLinkElement>("link[rel=icon]")?.href ?? "";
}
