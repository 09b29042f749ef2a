import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { PrefetchedCard } from '../recorders/record-card.ts';
import { stripTrailing } from '../../primitives/text.ts';

/** Milliseconds to wait for the card before the tap accepts requests. */
const cardTimeout = 2_000;

const maxBytes = 4 * 1_024 * 1_024;

/** Fetches the card of the target, which names the agent in the traffic log. @returns undefined if there is none. */
export async function prefetchCard(target: URL): Promise<PrefetchedCard | undefined> {
  const base = target.origin + stripTrailing(target.pathname, '/');
  for (const file of ['agent-card.json', 'agent.json']) {
    const url = `${base}/.well-known/${file}`;
    const body = await fetchCard(new URL(url));
    if (body) return { url, body };
  }
  return undefined;
}

function fetchCard(url: URL): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const request = url.protocol === 'https:' ? secureRequest : plainRequest;
    const headers = { accept: 'application/json', 'a2a-version': '1.0', 'user-agent': 'dragoman-tap' };
    const outgoing = request(
      url,
      { agent: false, headers, signal: AbortSignal.timeout(cardTimeout) },
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
