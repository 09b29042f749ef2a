import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { type AgentDefinition } from '../../../src/engine/agent-definition.ts';
import { defineAgent, type LocalAgent } from '../../../src/engine/local-agent.ts';
import { type ServeOptions, type RunningServer, serve } from '../../../src/server/node/serve.ts';
import { userRequest, expectTask } from '../engine/conversation.ts';
import { exchangeRaw, rawRequest } from '../http/raw-http.ts';

/** A server under test, which is looked over after each test. */
export interface CheckedServer {
  agent: LocalAgent;
  server: RunningServer;
  port: number;
  /** A task that is finished and must stay there. */
  taskId: string;
}

/** Serves an agent for a file of tests; after each of them nothing may be broken. */
export function serveChecked(
  definition: Partial<AgentDefinition>,
  options: ServeOptions = {},
): CheckedServer {
  const guarded = {} as CheckedServer;
  const faults: unknown[] = [];
  const note = (fault: unknown): void => {
    faults.push(fault);
  };

  beforeAll(async () => {
    process.on('unhandledRejection', note);
    guarded.agent = defineAgent({
      name: 'Echo',
      description: 'Says it back',
      process: ({ text }) => `You said: ${text}`,
      ...definition,
    });
    guarded.server = await serve(guarded.agent, { onError: note, ...options });
    guarded.port = guarded.server.port;
    guarded.taskId = expectTask(await guarded.agent.send(userRequest('hi'))).id;
  });

  afterEach(async () => {
    expect(faults).toEqual([]);
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tasks/get',
      params: { id: guarded.taskId },
    });
    const reply = await exchangeRaw(guarded.port, rawRequest('POST', '/', body));
    expect(reply?.status).toBe(200);
    expect(reply?.body).toContain('You said: hi');
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  afterAll(async () => {
    await guarded.server.stop(100);
    await guarded.agent.close();
    process.off('unhandledRejection', note);
  });
  return guarded;
}

/** Waits, turn by turn of the event loop, until something is so. */
export async function waitUntil(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`it never came about that ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
