import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connect, type RemoteAgent } from '../../src/client/connect.ts';
import { bearer } from '../../src/client/credentials.ts';
import { defineAgent } from '../../src/engine/index.ts';
import { readGatewayConfig } from '../../src/gateway/config/read-gateway-config.ts';
import { type RunningGateway, runGateway } from '../../src/gateway/run-gateway.ts';
import { A2AError } from '../../src/protocol/errors.ts';
import type { SendRequest } from '../../src/protocol/requests.ts';
import { isTask } from '../../src/protocol/task.ts';
import type { RunningServer } from '../../src/server/node/listen.ts';
import { serve } from '../../src/server/node/serve.ts';

/** Each text names its owner, so that a leak is visible wherever the text appears. */
const owners = ['alice', 'bob', 'carol'] as const;
type Owner = (typeof owners)[number];

const variants = [
  ['1.0', 'JSONRPC'],
  ['1.0', 'HTTP+JSON'],
  ['0.3', 'JSONRPC'],
  ['0.3', 'HTTP+JSON'],
  ['0.1', 'JSONRPC'],
] as const;

let upstream: RunningServer;
let gateway: RunningGateway;
const clients = new Map<string, RemoteAgent>();
/** Texts that the upstream received in each context. */
const contexts = new Map<string, Set<string>>();

beforeAll(async () => {
  const agent = defineAgent({
    name: 'Recorder',
    description: 'Records',
    async *process({ text, task: { contextId } }) {
      const [owner = ''] = text.split(' ');
      contexts.set(contextId, (contexts.get(contextId) ?? new Set()).add(owner));
      if (text.endsWith('ask')) yield { state: 'input-required', message: `${owner} is asked` };
      else yield `${owner} is done`;
    },
  });
  upstream = await serve(agent);
  const tokens = owners.map((name) => `{ token: token-${name}, principal: ${name} }`).join(', ');
  gateway = await runGateway(
    readGatewayConfig(
      `listen: 0\nauth: { bearer: [${tokens}] }\nagents: { up: { url: "${upstream.url}" } }`,
      join(tmpdir(), 'dragoman.yaml'),
      {},
    ),
  );
  for (const owner of owners)
    for (const [i, [version, transport]] of variants.entries())
      clients.set(
        `${owner}${i}`,
        connect(`${gateway.url}/agents/up`, {
          auth: bearer(`token-${owner}`),
          versions: [version],
          transports: [transport],
        }),
      );
});

afterAll(async () => {
  for (const client of clients.values()) await client.close();
  await gateway.stop(0);
  await upstream.stop(0);
});

const operations = [
  'send',
  'send',
  'send',
  'stream',
  'getTask',
  'cancelTask',
  'listTasks',
  'subscribe',
] as const;

const step = fc.record({
  owner: fc.constantFrom(...owners),
  variant: fc.nat(variants.length - 1),
  operation: fc.constantFrom(...operations),
  text: fc.constantFrom('say', 'ask'),
  messageId: fc.constantFrom('m1', 'm2', undefined),
  /** Index of an id that any owner has seen or chosen; above the number of ids, none is sent. */
  context: fc.nat(12),
  task: fc.nat(12),
  chosen: fc.constantFrom('t1', 't2', undefined),
});

it('shows no owner the tasks, contexts or texts of another, whatever ids they share', async () => {
  let calls = 0;
  let answered = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 25 }), async (steps) => {
      const taskIds: string[] = [];
      const contextIds = ['shared', 'session'];
      const own = new Map<string, Owner>();
      const chosenIds = new Set<string>();
      const check = (owner: Owner, value: unknown): void => {
        const text = JSON.stringify(value);
        for (const other of owners) if (other !== owner) expect(text).not.toContain(`${other} `);
        // Ids of the upstream that are prefixed for an owner are not visible to clients.
        expect(text).not.toMatch(/[\w-]{22}\.(m1|m2|shared|session|t1|t2)/);
      };
      const learn = (owner: Owner, { id, contextId }: { id: string; contextId: string }): void => {
        // Clients of 0.1 choose ids, and two of them may choose the same.
        if (!chosenIds.has(id)) {
          expect(own.get(id) ?? owner).toBe(owner);
          own.set(id, owner);
        }
        if (!taskIds.includes(id)) taskIds.push(id);
        if (!contextIds.includes(contextId)) contextIds.push(contextId);
      };
      for (const { owner, variant, operation, text, messageId, context, task, chosen } of steps) {
        const client = clients.get(`${owner}${variant}`) as RemoteAgent;
        const taskId = taskIds[task];
        const message: SendRequest['message'] = {
          messageId: messageId ?? crypto.randomUUID(),
          role: 'user',
          parts: [{ text: `${owner} ${text}` }],
        };
        if (contextIds[context] !== undefined) message.contextId = contextIds[context];
        if (taskId !== undefined && task % 2 === 0) message.taskId = taskId;
        else if (taskId !== undefined) message.referenceTaskIds = [taskId];
        const request: SendRequest = { message };
        if (variant === 4 && chosen !== undefined) request.clientTaskId = chosen;
        calls++;
        try {
          if (operation === 'send') {
            const result = await client.send(request);
            check(owner, result);
            if (isTask(result) && variant === 4) chosenIds.add(result.id);
            if (isTask(result)) learn(owner, result);
          } else if (operation === 'stream' || (operation === 'subscribe' && taskId !== undefined)) {
            const events =
              operation === 'stream' ? client.stream(request) : client.subscribe({ id: taskId ?? '' });
            for await (const event of events) {
              check(owner, event);
              if (event.kind === 'task' && variant === 4) chosenIds.add(event.task.id);
              if (event.kind === 'task') learn(owner, event.task);
              // The subscription to an interrupted task stays open.
              if (operation === 'subscribe') break;
            }
          } else if (operation === 'listTasks') {
            const page = await client.listTasks(
              message.contextId === undefined ? {} : { contextId: message.contextId },
            );
            check(owner, page);
            for (const each of page.tasks) learn(owner, each);
            expect(page.totalSize).toBe(page.tasks.length);
          } else if (taskId !== undefined) {
            const result =
              operation === 'getTask'
                ? await client.getTask({ id: taskId })
                : await client.cancelTask({ id: taskId });
            check(owner, result);
            learn(owner, result);
          }
          answered++;
        } catch (thrown) {
          // An expectation that failed is not an answer of the agent.
          if (!(thrown instanceof A2AError)) throw thrown;
          expect(thrown.reason).not.toBe('INVALID_AGENT_RESPONSE');
          check(owner, { message: thrown.message, details: thrown.details });
        }
      }
      for (const texts of contexts.values()) expect(texts.size).toBe(1);
    }),
    { numRuns: 12 },
  );
  // Most calls must succeed, otherwise the test shows nothing.
  expect(answered / calls).toBeGreaterThan(0.4);
});
