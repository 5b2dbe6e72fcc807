/** The organisations, whose tags are offered. */
export const organisationsQuery = ["/admin/v1/organisations", { limit: 500 }] as const;
