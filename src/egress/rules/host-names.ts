/** Top-level names that only resolve in private networks. */
const privateDomains = [
  'local',
  'localdomain',
  'internal',
  'intranet',
  'private',
  'corp',
  'home',
  'lan',
  'arpa',
] as const;

/** Scope of a host name. `malformed` is not a valid DNS name. */
export type HostNameKind = 'public' | 'loopback' | 'private' | 'malformed';

/** Classifies a host name without resolving it. */
export function classifyHostName(name: string): HostNameKind {
  const labels = name.split('.');
  if (name.length > 253 || labels.some((label) => label === '' || label.length > 63)) return 'malformed';
  // Underscores are not allowed in host names, but exist. Escapes are rejected.
  if (!/^[a-z0-9._-]+$/.test(name)) return 'malformed';
  const last = labels.at(-1) ?? '';
  if (last === 'localhost' || name === 'localhost.localdomain') return 'loopback';
  return labels.length === 1 || privateDomains.some((domain) => domain === last) ? 'private' : 'public';
}
