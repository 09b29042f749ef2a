/** The two server adapters: Node.js HTTP server and fetch handler. */
import type { Agent } from '../../../src/protocol/agent.ts';
import { toFetchHandler } from '../../../src/server/fetch.ts';
import { serve } from '../../../src/server/node/serve.ts';
import type { ServerOptions } from '../../../src/server/server-options.ts';

/** A running server that accepts requests. */
export interface ServerUnderTest {
  request(path: string, init?: RequestInit): Promise<Response>;
  close(): Promise<void>;
}

/** Starts an agent behind one kind of server. */
export interface ServerAdapter {
  name: string;
  open: (agent: Agent, options?: ServerOptions) => Promise<ServerUnderTest>;
}

export const serverAdapters: readonly ServerAdapter[] = [
  {
    name: 'serve',
    async open(agent, options) {
      const server = await serve(agent, options);
      return { request: (path, init) => fetch(server.url + path, init), close: () => server.stop(100) };
    },
  },
  {
    name: 'toFetchHandler',
    async open(agent, options) {
      const handle = toFetchHandler(agent, options);
      return {
        request: (path, init) => handle(new Request(`http://agent.test${path}`, init)),
        close: async () => {},
      };
    },
  },
];
