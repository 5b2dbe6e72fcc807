import { type AccountsDependencies, findHolderState, ownerOf } from "../accounts/index.ts";
import { GatewayError } from "../core/index.ts";

/** An organisation's admin gets the spending of their own organisation only. */
export function organisationIn(
  { role, organisation: own }: AccountsDependencies["caller"],
  organisation: string | undefined,
): string | undefined {
  return role === "organisation_admin" ? (organisation ?? own ?? "") : organisation;
}

/** The owner of the calls of a user or a project in the caller's reach; undefined if neither is named. Throws 404, and 422 for both. */
export async function ownerIn(
  deps: AccountsDependencies,
  { user, project }: { user?: string | undefined; project?: string | undefined },
): Promise<string | undefined> {
  if (user !== undefined && project !== undefined)
    throw new GatewayError("validation_failed", "project: a call belongs to a user or to a project.", {
      param: "project",
    });
  const [kind, name] = project === undefined ? (["user", user] as const) : (["project", project] as const);
  return name === undefined ? undefined : ownerOf((await findHolderState(deps, { kind, name })).holder);
}

/** The id of an organisation in the caller's reach; undefined without a name. Throws 404. */
export async function organisationIdOf(
  deps: AccountsDependencies,
  name: string | undefined,
): Promise<string | undefined> {
  return name === undefined ? undefined : (await findHolderState(deps, { kind: "organisation", name })).holder.id;
}
