import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';

/** For how many milliseconds a card is waited for before callers are let in. */
const patience = 2_000;

/** How large it may be. */
const maxBytes = 4 * 1_024 * 1_024;

/** Asks the target once for its card, so that it has a name from the beginning. @returns undefined where it has none. */
export async function prefetchCard(target: URL): Promise<Buffer | undefined> {
  const base = target.origin + target.pathname.replace(/\/+$/, '');
  for (const file of ['agent-card.json', 'agent.json']) {
    const found = await fetched(new URL(`${base}/.well-known/${file}`));
    if (found) return found;
  }
  return undefined;
}

function fetched(url: URL): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const open = url.protocol === 'https:' ? secureRequest : plainRequest;
    const headers = { accept: 'application/json', 'a2a-version': '1.0', 'user-agent': 'dragoman-tap' };
    const outgoing = open(
      url,
      { agent: false, headers, signal: AbortSignal.timeout(patience) },
      (incoming) => {
        const pieces: Buffer[] = [];
        let length = 0;
        incoming.on('data', (bytes: Buffer) => {
          length += bytes.length;
          if (length > maxBytes) incoming.destroy();
          else pieces.push(bytes);
        });
        incoming.on('close', () =>
          resolve(incoming.complete && incoming.statusCode === 200 ? Buffer.concat(pieces) : undefined),
        );
        incoming.on('error', () => {});
      },
    );
    outgoing.on('error', () => resolve(undefined));
    outgoing.end();
  });
}
