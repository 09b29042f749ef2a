/** True for an address on this machine. */
export function isLoopbackUrl(url: string): boolean {
  try {
    const { hostname } = new URL(url);
    return /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/i.test(hostname);
  } catch {
    return false;
  }
}
