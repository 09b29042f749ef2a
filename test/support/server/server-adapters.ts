/** The two ways into a server: a socket of Node, and a function of the web. */
import type { Agent } from '../../../src/protocol/agent.ts';
import { fetchHandler } from '../../../src/server/fetch.ts';
import { serve } from '../../../src/server/node/serve.ts';
import type { ServerOptions } from '../../../src/server/server-options.ts';

/** A server that can be asked. */
export interface ServerUnderTest {
  ask(path: string, init?: RequestInit): Promise<Response>;
  close(): Promise<void>;
}

/** A way into a server. */
export interface ServerAdapter {
  name: string;
  open: (agent: Agent, options?: ServerOptions) => Promise<ServerUnderTest>;
}

/** Both of them. */
export const serverAdapters: readonly ServerAdapter[] = [
  {
    name: 'a socket',
    async open(agent, options) {
      const server = await serve(agent, options);
      return { ask: (path, init) => fetch(server.url + path, init), close: () => server.stop(100) };
    },
  },
  {
    name: 'a function',
    async open(agent, options) {
      const handle = fetchHandler(agent, options);
      return {
        ask: (path, init) => handle(new Request(`http://agent.test${path}`, init)),
        close: async () => {},
      };
    },
  },
];
