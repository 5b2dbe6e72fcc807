/** Single calls of organisations and users, for the admin API and the command line. */
import { type AccountsDependencies, findHolderState, type HolderKind, ownerPlace } from "../accounts/index.ts";
import type { CallFilter, Generation } from "../generations/index.ts";
import { organisationIn, ownerIn } from "./reach.ts";

/** A filter by ids or names. */
export interface CallRequest extends Omit<CallFilter, "owner" | "organisationAccount" | "tokenId"> {
  organisation?: string | undefined;
  user?: string | undefined;
  project?: string | undefined;
  token?: string | undefined;
}

/** Of an organisation without an account, which nothing is below. */
const NO_ACCOUNT = "";

/** The filter for a caller: an organisation's admin has the calls of the organisation. Throws 404 for accounts out of reach. */
export async function callFilterOf(deps: AccountsDependencies, request: CallRequest): Promise<CallFilter> {
  const { organisation, user, project, token, ...filter } = request;
  const owner = await ownerIn(deps, { user, project });
  return { ...filter, owner, tokenId: token, organisationAccount: await organisationAccountOf(deps, organisation) };
}

/** The account of the organisation that is asked for, or that the caller is confined to. */
export async function organisationAccountOf(
  deps: AccountsDependencies,
  organisation?: string,
): Promise<string | undefined> {
  const name = organisationIn(deps.caller, organisation);
  if (name === undefined) return undefined;
  return (await findHolderState(deps, { kind: "organisation", name })).holder.accountId ?? NO_ACCOUNT;
}

interface Named {
  id: string;
  name: string;
}

/** Whose a call is: a user's or a project's. */
export interface CallPlace {
  user: Named | undefined;
  project: Named | undefined;
  /** The organisation that paid for it. */
  organisation: Named | undefined;
}

/** Whose a call is, or a session of calls, and who pays for it. */
type PlacedCall = Pick<Generation, "owner" | "accountId">;

/** The places of some calls, by their present names; of a deleted one the name is the id. */
export async function callPlaces(
  { ledger, holders, environment }: Pick<AccountsDependencies, "ledger" | "holders" | "environment">,
  calls: readonly PlacedCall[],
): Promise<(call: PlacedCall) => CallPlace> {
  const parents = new Map<string, string | undefined>();
  const at = environment.clock();
  for (let ids = unique(calls.map(({ accountId }) => accountId)); ids.length > 0;) {
    const found = await ledger.read(ids, at);
    for (const { id, parentId } of found) parents.set(id, parentId);
    ids = unique(found.flatMap(({ parentId }) => parentId ?? [])).filter((id) => !parents.has(id));
  }
  const owners = unique(calls.map(({ owner }) => owner)).map(ownerPlace);
  const idsOf = (wanted: HolderKind) => owners.flatMap(({ kind, id }) => (kind === wanted ? [id] : []));
  const accounts = [...parents.keys()];
  const known = await holders.places({ users: idsOf("user"), projects: idsOf("project"), accounts });
  const named = new Map(known.map((holder) => [`${holder.kind}:${holder.id}`, holder]));
  const organisations = new Map(
    known.flatMap((holder) => (holder.kind === "organisation" ? [[holder.accountId ?? "", holder]] : [])),
  );
  return ({ owner, accountId }) => {
    let top = accountId;
    for (let next = parents.get(top); next !== undefined; next = parents.get(top)) top = next;
    const { kind, id } = ownerPlace(owner);
    const place = named.get(`${kind}:${id}`) ?? { id, name: id };
    return {
      user: kind === "user" ? place : undefined,
      project: kind === "project" ? place : undefined,
      organisation: organisations.get(top) ?? deletedAt(top),
    };
  };
}

/** A deleted organisation, of whose account its id is a part; undefined for the account of a user or token. */
function deletedAt(account: string): Named | undefined {
  const [kind, id = ""] = account.split(":", 2);
  return kind === "organisation" ? { id, name: id } : undefined;
}

const unique = (texts: readonly string[]): string[] => [...new Set(texts)];
