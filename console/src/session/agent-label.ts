import type { AgentEntry } from '../../../src/console/console-api.ts';

type Named = Pick<AgentEntry, 'id' | 'name' | 'url'>;

/** What to call an agent where only its name is seen; those of one name are told apart by where they are. */
export function agentLabel({ id, name, url }: Named, all: readonly Named[]): string {
  const namesakes = all.filter((each) => each.name === name && each.id !== id);
  if (namesakes.length === 0 || name === url) return name;
  const { host, hostname, port, pathname } = new URL(url);
  const path = pathname.replace(/\/$/, '');
  // What all of them have tells nobody apart, and there is little room.
  const isHostShared = namesakes.every((each) => new URL(each.url).hostname === hostname);
  const short = `${port === '' ? '' : `:${port}`}${path}`;
  return `${name} (${isHostShared && short !== '' ? short : `${host}${path}`})`;
}
