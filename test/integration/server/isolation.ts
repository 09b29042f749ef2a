import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LocalAgent } from '../../../src/engine/index.ts';
import type { TaskStore } from '../../../src/store/task-store.ts';
import type { Operation } from '../../../src/protocol/agent.ts';
import { type RunningServer, serve } from '../../../src/server/index.ts';
import { sampleAgent } from '../../interop/sample-agent.ts';
import {
  type TestIdentity,
  type TestClient,
  testClients,
  type TestResponse,
  trustingAuthenticator,
} from '../../support/server/test-clients.ts';
import { userMessage } from '../../support/server/stream-clients.ts';

let url: string;

/** A client that must not learn about tasks of another one. */
interface Stranger {
  who: string;
  /** The client that owns the tasks. */
  owner: TestIdentity;
  otherClient: TestIdentity;
}

let pairs = 0;

/** Clients that differ from the owner in one property. */
function strangersOn({ tenantIn, dialect }: TestClient): Stranger[] {
  const make = (who: string, change: (owner: Required<TestIdentity>) => TestIdentity): Stranger => {
    const principal = { id: `alice ${++pairs}` };
    const tenant = `tenant ${pairs}`;
    const owner: TestIdentity = tenantIn ? { principal, tenant } : { principal };
    return { who, owner, otherClient: change({ principal, tenant }) };
  };
  const tenantOf = ({ tenant }: TestIdentity): TestIdentity => (tenantIn ? { tenant } : {});
  return [
    make('another client', (owner) => ({ ...tenantOf(owner), principal: { id: `bob ${pairs}` } })),
    make('a client of the same name from another issuer', (owner) => ({
      ...tenantOf(owner),
      principal: { ...owner.principal, issuer: 'https://other.test' },
    })),
    make('an anonymous client', tenantOf),
    make('a client whose name looks like an owner', (owner) => ({
      ...tenantOf(owner),
      principal: { id: JSON.stringify([null, owner.principal.id, tenantIn ? owner.tenant : null]) },
    })),
    ...(tenantIn
      ? [
          make('the same caller for another tenant', ({ principal }) => ({ principal, tenant: 'another' })),
          make('the same caller for no tenant', ({ principal }) => ({ principal })),
          make('a caller whose name has the tenant in it', ({ principal: { id }, tenant }) => ({
            principal: { id: `${id}\u0001${tenant}` },
          })),
        ]
      : []),
    ...(dialect.version === '1.0' && tenantIn === undefined
      ? [
          make('another client with a tenant named like the owner', ({ principal: { id } }) => ({
            principal: { id: 'carol' },
            tenant: id,
          })),
        ]
      : []),
  ];
}

/** Operations on a task id. */
const questions: {
  name: string;
  operation: Operation;
  request: (id: string) => unknown;
  headers?: Record<string, string>;
}[] = [
  { name: 'asks for it', operation: 'getTask', request: (id) => ({ id }) },
  { name: 'asks for its history', operation: 'getTask', request: (id) => ({ id, historyLength: 5 }) },
  { name: 'cancels it', operation: 'cancelTask', request: (id) => ({ id }) },
  { name: 'follows it', operation: 'subscribe', request: (id) => ({ id }) },
  {
    name: 'follows it from an event on',
    operation: 'subscribe',
    request: (id) => ({ id }),
    headers: { 'last-event-id': '1' },
  },
  {
    name: 'sends to it',
    operation: 'send',
    request: (id) => ({ message: userMessage('more', { taskId: id }) }),
  },
  {
    name: 'streams to it',
    operation: 'stream',
    request: (id) => ({ message: userMessage('more', { taskId: id }) }),
  },
  {
    name: 'streams to it from an event on',
    operation: 'stream',
    request: (id) => ({ message: userMessage('more', { taskId: id }) }),
    headers: { 'last-event-id': '1' },
  },
  {
    name: 'makes a push configuration',
    operation: 'createPushConfig',
    request: (taskId) => ({ taskId, id: 'hook', url: 'https://hooks.test/mine' }),
  },
  {
    name: 'asks for its push configuration',
    operation: 'getPushConfig',
    request: (taskId) => ({ taskId, id: 'hook' }),
  },
  {
    name: 'asks for another push configuration',
    operation: 'getPushConfig',
    request: (taskId) => ({ taskId, id: 'none' }),
  },
  { name: 'lists its push configurations', operation: 'listPushConfigs', request: (taskId) => ({ taskId }) },
  {
    name: 'deletes its push configuration',
    operation: 'deletePushConfig',
    request: (taskId) => ({ taskId, id: 'hook' }),
  },
];

/** Removes request ids and times; the rest of a response must not reveal whether a task exists. */
function masked({ text, ...others }: TestResponse, ...ids: string[]): TestResponse {
  let shown = text;
  for (const id of ids) shown = shown.replaceAll(id, 'ID');
  return {
    ...others,
    text: shown.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'UUID').replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME'),
  };
}

/** In 0.1 clients choose task ids, so a task of another owner must not prevent the creation. */
const claims = ({ dialect }: TestClient): boolean => dialect.version === '0.1';

/** Skips a test for versions without the tested operation. */
function itWhere(isSo: boolean): (name: string, run: () => Promise<void>) => void {
  return isSo ? it : () => {};
}

const stages = ['slow', 'ask', 'done'] as const;
type Stage = (typeof stages)[number];

const combinations = testClients.flatMap((line) =>
  strangersOn(line).map((otherClient) => ({ line, ...otherClient })),
);

/** Tests that no client learns about tasks of another one, with one kind of task store. */
export function describeTaskIsolation(storeName: string, openStore: () => Promise<TaskStore>): void {
  describe(`task isolation with the ${storeName} store`, () => {
    let taskStore: TaskStore;
    let agent: LocalAgent;
    let server: RunningServer;

    beforeAll(async () => {
      taskStore = await openStore();
      agent = sampleAgent({}, { taskStore });
      server = await serve(agent, {
        auth: { authenticators: [trustingAuthenticator()], allowAnonymous: true },
      });
      ({ url } = server);
    });
    afterAll(async () => {
      await server.stop(100);
      await agent.close();
      await taskStore[Symbol.asyncDispose]();
    });

    describe.each(combinations)('$line.name, and $who', ({ line, owner, otherClient }) => {
      const tasks = {} as Record<Stage, { id: string; contextId: string }>;
      const random = (): string => crypto.randomUUID();
      const begin = async (text: string, asker: TestIdentity, more: object = {}): Promise<any> => {
        const request = { message: userMessage(text), configuration: { returnImmediately: true }, ...more };
        if (claims(line)) Object.assign(request, { clientTaskId: random(), ...more });
        return line.call(url, asker, 'send', request);
      };
      const ask = (
        asker: TestIdentity,
        operation: Operation,
        request: unknown,
        headers = {},
      ): Promise<TestResponse> => line.request(url, asker, operation, request, headers);

      beforeAll(async () => {
        for (const stage of stages) {
          // In 0.1 a send returns only after the task, so the slow task is started by a stream.
          const task =
            claims(line) && stage === 'slow'
              ? await beginBySubscribing(line, owner)
              : await begin(stage, owner);
          tasks[stage] = task;
          await line.call(url, owner, 'createPushConfig', {
            taskId: task.id,
            id: 'hook',
            url: 'https://hooks.test/a',
          });
        }
      });

      const applicableQuestions = questions.filter(({ operation }) => {
        const isSending = operation === 'send' || operation === 'stream';
        return line.has(operation) && !(claims(line) && isSending);
      });

      it.each(applicableQuestions)('reveals nothing to $name', async ({ operation, request, headers }) => {
        const absent = random();
        const expected = masked(await ask(otherClient, operation, request(absent), headers), absent);
        for (const stage of stages) {
          const { id } = tasks[stage];
          expect(masked(await ask(otherClient, operation, request(id), headers), id)).toEqual(expected);
        }
        expect(expected.text).toMatch(/not found/i);
      });

      itWhere(line.has('listTasks'))('who lists counts none of them', async () => {
        const { tasks: seen, totalSize, nextPageToken } = await line.call(url, otherClient, 'listTasks', {});
        const listed: string[] = seen.map(({ id }: { id: string }) => id);
        for (const stage of stages) expect(listed).not.toContain(tasks[stage].id);
        expect({ totalSize, nextPageToken }).toEqual({ totalSize: listed.length, nextPageToken: '' });
        const { totalSize: own } = await line.call(url, owner, 'listTasks', {});
        expect(own).toBeGreaterThanOrEqual(stages.length);
      });

      itWhere(line.has('listTasks'))('who filters by their context finds none', async () => {
        const absent = random();
        const expected = masked(await ask(otherClient, 'listTasks', { contextId: absent }), absent);
        const { contextId } = tasks.ask;
        expect(masked(await ask(otherClient, 'listTasks', { contextId }), contextId)).toEqual(expected);
        expect(await line.call(url, otherClient, 'listTasks', { contextId })).toMatchObject({
          tasks: [],
          totalSize: 0,
        });
      });

      itWhere(line.dialect.version === '1.0')('who uses their page token is rejected', async () => {
        const { nextPageToken } = await line.call(url, owner, 'listTasks', { pageSize: 1 });
        expect(nextPageToken).not.toBe('');
        const using = ask(otherClient, 'listTasks', { pageToken: nextPageToken });
        const inventing = ask(otherClient, 'listTasks', { pageToken: 'invented' });
        expect(await using).toEqual(await inventing);
        expect(JSON.stringify(await using)).toContain(
          'pageToken must be a page token returned by this agent',
        );
      });

      it('creates a separate task for the same message and the same key', async () => {
        const key = { 'idempotency-key': random() };
        const message = userMessage('the same');
        const named = claims(line) ? { clientTaskId: random() } : {};
        const theirs = await line.call(url, owner, 'send', { message, ...named }, key);
        const again = claims(line) ? { clientTaskId: random() } : {};
        const fresh = userMessage('the same');
        const expected = masked(
          await ask(otherClient, 'send', { message: fresh, ...again }),
          fresh.messageId,
        );
        const otherNamed = claims(line) ? { clientTaskId: random() } : {};
        const mine = await ask(otherClient, 'send', { message, ...otherNamed }, key);
        expect(masked(mine, message.messageId)).toEqual(expected);
        expect(mine.text).not.toContain(theirs.id);
        expect(mine.text).not.toContain(theirs.contextId);
        const repeated = await line.call(url, owner, 'send', { message, ...named }, key);
        expect(repeated.id).toBe(theirs.id);
      });

      it('creates a new task for the same context or a task reference', async () => {
        const { id, contextId } = tasks.done;
        const send = (context: string, reference: string): Promise<TestResponse> =>
          ask(otherClient, 'send', {
            message: userMessage('hello', { contextId: context, referenceTaskIds: [reference] }),
            ...(claims(line) && { clientTaskId: random() }),
          });
        const [absentContext, absent] = [random(), random()];
        const expected = masked(await send(absentContext, absent), absentContext, absent);
        const found = masked(await send(contextId, id), contextId, id);
        expect(found).toEqual(expected);
        expect(found.status).toBe(200);
      });

      itWhere(claims(line))('who claims the same id gets a task of its own under it', async () => {
        for (const operation of ['send', 'stream'] as const) {
          const shared = random();
          const theirs = await line.call(url, owner, 'send', {
            message: userMessage('theirs'),
            clientTaskId: shared,
          });
          const mine = await ask(otherClient, operation, {
            message: userMessage('mine'),
            clientTaskId: shared,
          });
          const absent = random();
          const fresh = await ask(otherClient, operation, {
            message: userMessage('mine'),
            clientTaskId: absent,
          });
          expect(masked(mine, shared)).toEqual(masked(fresh, absent));
          expect(mine.text).not.toContain('theirs');
          expect(mine.text).not.toContain(theirs.contextId);
          const kept = await ask(owner, 'getTask', { id: shared, historyLength: 9 });
          expect(kept.text).toContain('theirs');
          expect(kept.text).not.toContain('mine');
        }
      });

      it('leaves the tasks of the owner unchanged', async () => {
        const states = { slow: 'working', ask: 'input-required', done: 'completed' };
        for (const stage of stages) {
          const { id } = tasks[stage];
          expect((await line.call(url, owner, 'getTask', { id })).status.state).toBe(states[stage]);
          const hook = await line.call(url, owner, 'getPushConfig', { taskId: id, id: 'hook' });
          expect(hook.url).toBe('https://hooks.test/a');
        }
      });
    });

    it('tests in at least 200 combinations', () => {
      const count = combinations.reduce(
        (sum, { line }) => sum + questions.filter(({ operation }) => line.has(operation)).length,
        0,
      );
      expect(count).toBeGreaterThan(200);
    });
  });
}

/** Starts a working task and closes the stream. */
async function beginBySubscribing(
  line: TestClient,
  owner: TestIdentity,
): Promise<{ id: string; contextId: string }> {
  const clientTaskId = crypto.randomUUID();
  const response = await line.open(url, owner, 'stream', { message: userMessage('slow'), clientTaskId });
  await response.body?.cancel();
  const { contextId } = await line.call(url, owner, 'getTask', { id: clientTaskId });
  return { id: clientTaskId, contextId };
}
