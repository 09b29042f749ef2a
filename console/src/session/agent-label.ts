import type { AgentEntry } from '../../../src/console/console-api.ts';

type Named = Pick<AgentEntry, 'id' | 'name' | 'url'>;

/** The label of an agent. URLs distinguish agents with equal names; they come first, because long labels are cut at the end. */
export function agentLabel({ id, name, url }: Named, all: readonly Named[]): string {
  const namesakes = all.filter((each) => each.name === name && each.id !== id);
  if (namesakes.length === 0 || name === url) return name;
  const { host, hostname, port, pathname } = new URL(url);
  const path = pathname.replace(/\/$/, '');
  // Omit the common part of the URLs to save space.
  const isHostShared = namesakes.every((each) => new URL(each.url).hostname === hostname);
  const short = `${port === '' ? '' : `:${port}`}${path}`;
  return `${isHostShared && short !== '' ? short : `${host}${path}`} · ${name}`;
}
