/** Names that only a network's own resolver knows. */
const ownNames = [
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

/** What a name is for. `malformed` is no name of the domain name system at all. */
export type HostNameKind = 'public' | 'loopback' | 'private' | 'malformed';

/** Says what a name is for by its looks. Where it leads is another question. */
export function classifyHostName(name: string): HostNameKind {
  const labels = name.split('.');
  if (name.length > 253 || labels.some((label) => label === '' || label.length > 63)) return 'malformed';
  // Underscores are not for hosts, but hosts have them. Escapes and the like have no business here.
  if (!/^[a-z0-9._-]+$/.test(name)) return 'malformed';
  const last = labels.at(-1) ?? '';
  if (last === 'localhost' || name === 'localhost.localdomain') return 'loopback';
  return labels.length === 1 || ownNames.some((own) => own === last) ? 'private' : 'public';
}
