import { expect, it } from 'vitest';
import { connect } from '../../client/connect.ts';
import type { HttpClient } from '../../client/http/http-client.ts';
import { undiciHttpClient } from '../../client/http/undici-driver.ts';
import { defineAgent } from '../../engine/local-agent.ts';
import { serve } from '../../server/node/serve.ts';
import { ConsoleAgent } from './console-agent.ts';

it('keeps the endpoint that worked to itself, so that other clients of the process choose their own', async () => {
  const agent = defineAgent({ name: 'Plain', description: 'Plain', process: () => 'done' });
  await using server = await serve(agent);
  const inner = undiciHttpClient({ connectTimeout: 5_000, maxConnections: 4 });
  let wrongRequests = 0;
  /** Adds an interface to the card that does not exist. */
  const http: HttpClient = {
    async request(request) {
      if (request.path.startsWith('/wrong')) wrongRequests++;
      const response = await inner.request(request);
      if (!request.path.includes('/.well-known/')) return response;
      const card = JSON.parse(await response.text(1_000_000)) as { supportedInterfaces: { url: string }[] };
      const [first] = card.supportedInterfaces;
      card.supportedInterfaces.unshift({ ...first, url: `${server.url}/wrong` });
      const header = (name: string) => response.header(name);
      return { ...response, status: response.status, header, text: async () => JSON.stringify(card) };
    },
    close: () => inner.close(),
  };
  const info = { id: 'a', url: server.url, name: undefined, credentials: undefined, isRemovable: true };
  const consoleAgent = new ConsoleAgent(info, { http, quietHttp: http });
  await (await consoleAgent.connect(undefined)).send('hi');
  expect(wrongRequests).toBe(1);
  await connect(server.url, { http }).send('hi');
  expect(wrongRequests).toBe(2);
  await consoleAgent.close();
  await http.close();
});
