import type { Principal } from "../auth/index.ts";
import type { AccountsDependencies } from "./dependencies.ts";
import { ownerOf } from "./holder.ts";
import { notFound } from "./reach.ts";

/** The caller as who reads what belongs to a project, by its id or name. Rejects with a 404 unless they are a member of it. */
export async function readAsProject(
  { holders }: Pick<AccountsDependencies, "holders">,
  principal: Principal,
  name: string,
): Promise<Principal> {
  const project = await holders.find("project", name);
  if (project?.accountId === undefined || project.members?.includes(principal.user) !== true)
    throw notFound("project", name);
  const { accountId, name: userName } = project;
  return { ...principal, user: ownerOf(project), userName, accountId, service: false };
}
