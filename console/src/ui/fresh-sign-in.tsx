import { useQuery } from "@tanstack/react-query";
import { ApiError } from "../api/client.ts";
import { fetchSignIns, signIn } from "../api/session.ts";
import { useSession } from "../api/use-session.ts";
import type { FieldText } from "./field-text.ts";
import { TextField } from "./text-field.tsx";

/** Signs in with the token of the form, if it has asked for one. */
export async function signInAgain(text: FieldText): Promise<void> {
  const token = text("fresh_token");
  if (token !== "") await signIn({ token });
}

/** After a refusal of an old sign-in: proves again who it is, by a token, or at the issuer of the session. Nothing after other errors. */
export function FreshSignIn({ error }: { error: Error | null }) {
  return error instanceof ApiError && error.code === "fresh_sign_in_required" ? <Proof /> : null;
}

function Proof() {
  const { issuer } = useSession();
  const { data = [] } = useQuery({ queryKey: ["sign-ins"], queryFn: fetchSignIns, enabled: issuer !== null });
  const place = data.find(({ name }) => name === issuer);
  if (issuer === null)
    return (
      <TextField
        label="Your token, since you have signed in some time ago"
        name="fresh_token"
        type="password"
        isRequired
      />
    );
  if (place === undefined) return null;
  const query = new URLSearchParams({ fresh: "true", return: `${location.pathname}${location.search}` });
  return (
    <p>
      <a className="text-accent underline underline-offset-4" href={`${place.url}?${query}`}>
        Sign in again with {issuer}
      </a>
      , then do this again.
    </p>
  );
}
