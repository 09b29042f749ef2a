import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect } from 'vitest';
import { connect, type RemoteAgent } from '../../../src/client/connect.ts';
import { bearer } from '../../../src/client/credentials.ts';
import { defineAgent } from '../../../src/engine/index.ts';
import { readGatewayConfig } from '../../../src/gateway/config/read-gateway-config.ts';
import { runGateway } from '../../../src/gateway/run-gateway.ts';
import { A2AError } from '../../../src/protocol/errors.ts';
import type { SendRequest } from '../../../src/protocol/requests.ts';
import { isTask, type Task } from '../../../src/protocol/task.ts';
import { serve } from '../../../src/server/node/serve.ts';

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
/** Index of 0.1, whose clients choose the ids of tasks. */
const choosesTaskIds = 4;
/** Index of 0.3 over JSON-RPC. It shares method names with 0.1, and tasks of 0.1 clients are returned in 0.1. */
const sharesMethods = 2;

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
  pageSize: fc.constantFrom(1, 3, undefined),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Gateways in front of one agent, and a client of every owner, variant and gateway. */
class World implements AsyncDisposable {
  /** Owners whose texts the upstream received in each context. */
  readonly contexts = new Map<string, Set<string>>();
  readonly #clients = new Map<string, RemoteAgent>();
  readonly #stops: (() => Promise<void>)[] = [];
  readonly #urls: string[] = [];
  #calls = 0;

  /** @param count - number of gateways, which share a store. */
  async start(count: number): Promise<this> {
    const { contexts } = this;
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
    const upstream = await serve(agent);
    this.#stops.push(() => upstream.stop(0));
    const tokens = owners.map((name) => `{ token: token-${name}, principal: ${name} }`).join(', ');
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-isolation-'));
    this.#stops.push(() => rm(folder, { recursive: true }));
    const store = count === 1 ? 'memory' : `sqlite:${join(folder, 'owners.db')}`;
    for (let n = 0; n < count; n++) {
      const gateway = await runGateway(
        readGatewayConfig(
          `listen: 0\nstore: "${store}"\nauth: { bearer: [${tokens}] }\nagents: { up: { url: "${upstream.url}" } }`,
          join(folder, 'dragoman.yaml'),
          {},
        ),
      );
      this.#stops.unshift(() => gateway.stop(0));
      this.#urls.push(`${gateway.url}/agents/up`);
    }
    return this;
  }

  /** Returns a client of the next gateway. */
  client(owner: Owner, variant: number): RemoteAgent {
    const url = this.#urls[this.#calls++ % this.#urls.length] ?? '';
    const key = `${owner}${variant} ${url}`;
    const [version, transport] = variants[variant] ?? variants[0];
    const client =
      this.#clients.get(key) ??
      connect(url, { auth: bearer(`token-${owner}`), versions: [version], transports: [transport] });
    this.#clients.set(key, client);
    return client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients.values()) await client.close();
    for (const stop of this.#stops) await stop();
  }
}

/** Performs steps of several owners and checks what each of them receives. */
class IsolationRun {
  calls = 0;
  answered = 0;
  readonly #world: World;
  readonly #taskIds: string[] = [];
  readonly #contextIds = ['shared', 'session'];
  readonly #ownerOf = new Map<string, Owner>();
  /** Ids that clients of 0.1 choose. Two of them may choose the same. */
  readonly #chosenIds = new Set(['t1', 't2']);
  readonly #tasksOf0_1 = new Set(this.#chosenIds);

  constructor(world: World) {
    this.#world = world;
  }

  async perform(each: Step): Promise<void> {
    this.calls++;
    try {
      await this.#call(each);
      this.answered++;
    } catch (thrown) {
      // An expectation that failed is not an answer of the agent.
      if (!(thrown instanceof A2AError)) throw thrown;
      // Other unreadable answers are possible: `tasks/get` of 0.3 is answered in 0.1 for a task of a 0.1 client.
      expect(thrown.message).not.toContain('task of another client');
      this.#check(each.owner, { message: thrown.message, details: thrown.details });
    }
  }

  async #call(each: Step): Promise<void> {
    const { owner, variant, operation } = each;
    const client = this.#world.client(owner, variant);
    const id = this.#taskIds[each.task];
    if (operation === 'send') {
      const result = await client.send(this.#request(each));
      if (isTask(result)) this.#learn(each, result);
      else this.#check(owner, result);
    } else if (operation === 'subscribe' && variant === sharesMethods && this.#tasksOf0_1.has(id ?? '')) {
      // The client ignores the events, which it cannot read, and waits for others.
    } else if (operation === 'stream' || (operation === 'subscribe' && id !== undefined)) {
      const events =
        operation === 'stream' ? client.stream(this.#request(each)) : client.subscribe({ id: id ?? '' });
      for await (const event of events) {
        this.#check(owner, event);
        if (event.kind === 'task') this.#learn(each, event.task);
        // The subscription to an interrupted task stays open.
        if (operation === 'subscribe') break;
      }
    } else if (operation === 'listTasks') {
      await this.#list(each, client);
    } else if (id !== undefined) {
      this.#learn(each, await (operation === 'getTask' ? client.getTask({ id }) : client.cancelTask({ id })));
    }
  }

  #request({ owner, variant, text, messageId, context, task, chosen }: Step): SendRequest {
    const isChosen = variant === choosesTaskIds;
    // A message that is sent again under another chosen id gives its task a second id, which the model does not follow.
    const suffix = isChosen ? (chosen ?? crypto.randomUUID()) : '';
    const message: SendRequest['message'] = {
      messageId: messageId === undefined ? crypto.randomUUID() : messageId + suffix,
      role: 'user',
      parts: [{ text: `${owner} ${text}` }],
    };
    const taskId = this.#taskIds[task];
    if (this.#contextIds[context] !== undefined) message.contextId = this.#contextIds[context];
    // A 0.1 client that names a finished task of a later version starts a second task with the same id.
    const isContinued = task % 2 === 0 && (!isChosen || this.#chosenIds.has(taskId ?? ''));
    if (taskId !== undefined && isContinued) message.taskId = taskId;
    else if (taskId !== undefined) message.referenceTaskIds = [taskId];
    return isChosen && chosen !== undefined ? { message, clientTaskId: chosen } : { message };
  }

  /** Reads all pages: together they contain the tasks of the owner, each once. */
  async #list(each: Step, client: RemoteAgent): Promise<void> {
    const contextId = this.#contextIds[each.context];
    // Lists of 0.3 over REST have no page token.
    const pageSize = variants[each.variant]?.join() === '0.3,HTTP+JSON' ? undefined : each.pageSize;
    const filter = { ...(contextId !== undefined && { contextId }), ...(pageSize && { pageSize }) };
    const listed: string[] = [];
    const totals = new Set<number>();
    let pageToken = '';
    do {
      const page = await client.listTasks({ ...filter, ...(pageToken !== '' && { pageToken }) });
      this.#check(each.owner, page);
      for (const task of page.tasks) this.#learn(each, task);
      listed.push(...page.tasks.map(({ id }) => id));
      totals.add(page.totalSize);
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    expect(new Set(listed).size).toBe(listed.length);
    expect([...totals]).toEqual([listed.length]);
    if (contextId !== undefined) return;
    for (const [id, owner] of this.#ownerOf) if (owner === each.owner) expect(listed).toContain(id);
  }

  #check(owner: Owner, value: unknown): void {
    const text = JSON.stringify(value);
    for (const other of owners) if (other !== owner) expect(text).not.toContain(`${other} `);
    // Ids of the upstream that are prefixed for an owner are not visible to clients.
    expect(text).not.toMatch(/[\w-]{22}\.(m1|m2|shared|session|t1|t2)/);
  }

  #learn({ owner, variant, operation }: Step, task: Task): void {
    this.#check(owner, task);
    const { id, contextId } = task;
    if (variant === choosesTaskIds && (operation === 'send' || operation === 'stream'))
      this.#tasksOf0_1.add(id);
    if (!this.#chosenIds.has(id)) {
      expect(this.#ownerOf.get(id) ?? owner).toBe(owner);
      this.#ownerOf.set(id, owner);
    }
    if (!this.#taskIds.includes(id)) this.#taskIds.push(id);
    if (!this.#contextIds.includes(contextId)) this.#contextIds.push(contextId);
  }
}

/**
 * Checks with random calls of three owners that none sees tasks, contexts or texts of another, and that each finds its own.
 * Every run has gateways of its own, so that a seed reproduces it.
 *
 * @param gateways - number of gateways that share a store and receive the calls in turn.
 */
export async function checkGatewayIsolation(
  parameters: fc.Parameters<[Step[]]>,
  gateways = 1,
): Promise<void> {
  let calls = 0;
  let answered = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 15, maxLength: 40, size: 'max' }), async (steps) => {
      await using world = await new World().start(gateways);
      const run = new IsolationRun(world);
      for (const each of steps) await run.perform(each);
      for (const texts of world.contexts.values()) expect(texts.size).toBe(1);
      calls += run.calls;
      answered += run.answered;
    }),
    parameters,
  );
  // Most calls must succeed, otherwise the test shows nothing.
  expect(answered / calls).toBeGreaterThan(0.4);
}
