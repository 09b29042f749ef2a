/** Returns the last path segment of a URI. */
export function resourceName(uri: string): string {
  return uri.split(/[?#]/)[0]?.split('/').findLast(Boolean) ?? uri;
}
