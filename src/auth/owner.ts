/** No user's name or id has a colon. */
const PROJECT = "project:";

/** The owner of the records of a project's calls, who stands in the place of a user's id. */
export function ownerOfProject(id: string): string {
  return PROJECT + id;
}

/** The id of the project that this owner of records is; undefined of a user. */
export function projectOf(owner: string): string | undefined {
  return owner.startsWith(PROJECT) ? owner.slice(PROJECT.length) : undefined;
}
