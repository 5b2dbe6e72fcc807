/** The path below a base URL with or without its version, which people copy from the documentation in both forms. */
export function versionedPath(baseUrl: string, version: string, path: string): string {
  return baseUrl.endsWith(`/${version}`) ? path : `/${version}${path}`;
}
