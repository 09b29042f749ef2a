import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { RawHttpClient } from '../wire/raw-http-client.ts';
import { findCards } from './find-cards.ts';

/** Returns the card for a client; one without a version receives a 1.0 card of its own. */
function cardFor(version: string | undefined, isOldPath: boolean): object {
  if (version === '1.0') return { name: 'for 1.0', supportedInterfaces: [] };
  if (version === '0.3') return { name: 'for 0.3', protocolVersion: '0.3.0' };
  return isOldPath ? { name: 'for 0.1', authentication: {} } : { name: 'for all', supportedInterfaces: [] };
}

it('returns the card of 1.0 clients if clients without a version receive another card of 1.0', async () => {
  const server = createServer(({ headers, url }, response) => {
    const card = cardFor(headers['a2a-version']?.toString(), url?.endsWith('/agent.json') ?? false);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(card));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const http = new RawHttpClient({ deadline: 10_000 });
  try {
    const cards = await findCards(http, `http://127.0.0.1:${(server.address() as AddressInfo).port}`, {});
    expect(cards.map(({ version, card }) => `${version} ${String(card.name)}`)).toEqual([
      '1.0 for 1.0',
      '0.3 for 0.3',
      '0.1 for 0.1',
    ]);
  } finally {
    http.close();
    server.close();
  }
});
