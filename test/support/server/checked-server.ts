import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { type AgentDefinition } from '../../../src/engine/agent-definition.ts';
import { defineAgent, type LocalAgent } from '../../../src/engine/local-agent.ts';
import { type ServeOptions, type RunningServer, serve } from '../../../src/server/node/serve.ts';
import { userRequest, expectTask } from '../engine/conversation.ts';
import { sendRawRequest, rawRequest } from '../http/raw-http.ts';

/** A server whose health is checked after each test. */
export interface CheckedServer {
  agent: LocalAgent;
  server: RunningServer;
  port: number;
  /** Id of a completed task that must remain readable. */
  taskId: string;
}

/** Serves an agent for all tests of a file. After each test it checks that no error occurred and that the server works. */
export function serveChecked(
  definition: Partial<AgentDefinition>,
  options: ServeOptions = {},
): CheckedServer {
  const checked = {} as CheckedServer;
  const errors: unknown[] = [];
  const recordError = (error: unknown): void => {
    errors.push(error);
  };

  beforeAll(async () => {
    process.on('unhandledRejection', recordError);
    checked.agent = defineAgent({
      name: 'Echo',
      description: 'Says it back',
      process: ({ text }) => `You said: ${text}`,
      ...definition,
    });
    checked.server = await serve(checked.agent, { onError: recordError, ...options });
    checked.port = checked.server.port;
    checked.taskId = expectTask(await checked.agent.send(userRequest('hi'))).id;
  });

  afterEach(async () => {
    expect(errors).toEqual([]);
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tasks/get',
      params: { id: checked.taskId },
    });
    const response = await sendRawRequest(checked.port, rawRequest('POST', '/', body));
    expect(response?.status).toBe(200);
    expect(response?.body).toContain('You said: hi');
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  afterAll(async () => {
    await checked.server.stop(100);
    await checked.agent.close();
    process.off('unhandledRejection', recordError);
  });
  return checked;
}

/** Polls every 5 ms until a predicate holds. Rejects after 20 s. */
export async function waitUntil(
  predicate: () => boolean | Promise<boolean>,
  condition: string,
): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!(await predicate())) {
    if (Date.now() > deadline) throw new Error(`timed out waiting until ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
