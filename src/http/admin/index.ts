export { type AdminApi, createAdminApi } from "./admin-api.ts";
export type { CallAnswer } from "./calls/calls.ts";
export { readPeople } from "./people/people-file.ts";
export type { AdminRoute } from "./route-roles.ts";
