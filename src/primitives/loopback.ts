/** Returns true for an IP address of the loopback interface, including IPv4-mapped IPv6. */
export function isLoopbackAddress(ip: string | undefined): boolean {
  return ip !== undefined && (ip === '::1' || /^(::ffff:)?127\./i.test(ip));
}

/**
 * Returns true for `localhost` and loopback addresses, in the notation of `URL.hostname`. Names below `localhost` and
 * names that only start like an address do not count: they may resolve to another host.
 */
export function isLoopbackHost(host: string | undefined): boolean {
  return host !== undefined && /^(?:localhost|127(?:\.\d+){3}|\[::1\]|::1)$/.test(host);
}

/** Returns true for loopback hosts and the unspecified addresses `0.0.0.0` and `[::]`, which also reach the local host. */
export function isLocalHost(host: string): boolean {
  return isLoopbackHost(host) || host === '0.0.0.0' || host === '[::]';
}
