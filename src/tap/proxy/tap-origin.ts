/** Returns the URL of the tap for a client that uses a host name. @param fallback - used without a valid name */
export function tapOrigin(host: string | undefined, fallback: string): string {
  return host !== undefined && /^[\w.-]+(?::\d+)?$|^\[[\da-f:]+\](?::\d+)?$/i.test(host)
    ? `http://${host}`
    : fallback;
}
