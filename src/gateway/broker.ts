import type { Link } from '../mesh/link.ts';
import { A2AError } from '../protocol/errors.ts';
import type { MeshSettings } from './settings.ts';

/** Opens the link to a broker that a file names. The library for it is loaded then. */
export async function openBroker({ url, username, password }: MeshSettings): Promise<Link> {
  const scheme = url.slice(0, url.indexOf(':') + 1);
  switch (scheme) {
    case 'memory:': {
      const { memoryLink } = await import('../mesh/memory-link.ts');
      return memoryLink();
    }
    case 'mqtt:':
    case 'mqtts:':
    case 'ws:':
    case 'wss:': {
      const { mqttLink } = await import('../mesh/mqtt-link.ts');
      return mqttLink(url, { username, password });
    }
    default:
      throw new A2AError('INVALID_PARAMS', `There is no way to a broker at ${scheme}`);
  }
}
