/** What a resource is called: the last words of its address. */
export function resourceName(uri: string): string {
  return uri.split(/[?#]/)[0]?.split('/').findLast(Boolean) ?? uri;
}
