/**
 * Agents on the official SDK that obey the texts of the fixtures, one per version, on a free port of this machine. What
 * is found wrong with them is a fault of the SDK, of this file, or of the suite.
 */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import express, { type Express } from 'express';
import * as sdk02 from 'sdk-0.2/server';
import * as sdk03 from 'sdk-0.3/server';
import * as express03 from 'sdk-0.3/server/express';
import { TaskState } from 'sdk-1.3';
import * as sdk13 from 'sdk-1.3/server';
import * as express13 from 'sdk-1.3/server/express';
import type { Started } from './official-servers.ts';

/** What an agent does, in the words of no version. */
type Deed =
  | { state: string; said?: string }
  | { chunk: string; append: boolean; last: boolean }
  | { echo: true }
  | { message: string }
  | { wait: number };

/** What a text of the fixtures leads to. */
function deedsOf(text: string, isFollowUp: boolean): Deed[] {
  const [, word = 'complete'] = /fx:(\w+)/.exec(text) ?? [];
  const done: Deed[] = [{ chunk: `Done: ${text}`, append: false, last: true }, { state: 'completed' }];
  if (isFollowUp) return [{ state: 'working' }, ...done];
  const steps = (count: number): Deed[] =>
    Array.from({ length: count }, (_, i): Deed[] => [
      { state: 'working', said: `Step ${i}` },
      { wait: 400 },
    ]).flat();
  const deeds: { readonly [word: string]: Deed[] } = {
    message: [{ message: 'A direct answer' }],
    slow: [...steps(8), ...done],
    chunks: [
      { state: 'working' },
      ...Array.from(
        { length: 6 },
        (_, i): Deed => ({ chunk: `chunk ${i + 1};`, append: i > 0, last: i === 5 }),
      ),
      { state: 'completed' },
    ],
    input: [{ state: 'working' }, { state: 'input-required', said: 'Which one?' }],
    auth: [{ state: 'working' }, { state: 'auth-required', said: 'Please log in' }],
    fail: [{ state: 'working' }, { state: 'failed', said: 'It went wrong' }],
    reject: [{ state: 'rejected', said: 'No' }],
    echo: [{ state: 'working' }, { echo: true }, { state: 'completed' }],
  };
  return deeds[word] ?? [{ state: 'working' }, ...done];
}

const time = (): string => new Date().toISOString();
const ends = new Set(['completed', 'failed', 'canceled', 'rejected', 'input-required', 'auth-required']);

/** An agent for the SDKs whose events have a kind. */
class TaggedFixtures {
  readonly #canceled = new Map<string, () => void>();
  readonly #contexts = new Map<string, string>();

  async execute({ userMessage, taskId, contextId, task }: any, bus: any): Promise<void> {
    const message = (said: string) => ({
      kind: 'message',
      role: 'agent',
      messageId: crypto.randomUUID(),
      taskId,
      contextId,
      parts: [{ kind: 'text', text: said }],
    });
    const text = userMessage.parts.map((part: any) => part.text ?? '').join('');
    const deeds = deedsOf(text, task !== undefined);
    if (deeds[0] && 'message' in deeds[0]) {
      const { taskId: _none, ...direct } = message(deeds[0].message);
      bus.publish(direct);
      bus.finished();
      return;
    }
    if (!task)
      bus.publish({
        kind: 'task',
        id: taskId,
        contextId,
        status: { state: 'submitted', timestamp: time() },
        history: [userMessage],
        artifacts: [],
      });
    const status = (state: string, said?: string): void =>
      bus.publish({
        kind: 'status-update',
        taskId,
        contextId,
        final: ends.has(state),
        status: { state, timestamp: time(), ...(said === undefined ? {} : { message: message(said) }) },
      });
    const artifact = (parts: unknown[], append: boolean, lastChunk: boolean): void =>
      bus.publish({
        kind: 'artifact-update',
        taskId,
        contextId,
        append,
        lastChunk,
        artifact: { artifactId: 'answer', name: 'answer', parts },
      });
    const stop = new AbortController();
    this.#canceled.set(taskId, () => stop.abort());
    this.#contexts.set(taskId, contextId);
    await play(deeds, stop.signal, {
      status,
      chunk: (said, append, last) => artifact([{ kind: 'text', text: said }], append, last),
      echo: () => artifact(userMessage.parts, false, true),
    });
    this.#canceled.delete(taskId);
    bus.finished();
  }

  async cancelTask(taskId: string, bus: any): Promise<void> {
    const cancel = this.#canceled.get(taskId);
    if (cancel) {
      cancel();
      return;
    }
    bus?.publish?.({
      kind: 'status-update',
      taskId,
      contextId: this.#contexts.get(taskId),
      final: true,
      status: { state: 'canceled', timestamp: time() },
    });
  }
}

interface Stage {
  status(state: string, said?: string): void;
  chunk(said: string, append: boolean, last: boolean): void;
  echo(): void;
}

async function play(deeds: readonly Deed[], signal: AbortSignal, stage: Stage): Promise<void> {
  for (const deed of deeds) {
    if (signal.aborted) break;
    if ('wait' in deed) await pause(deed.wait, undefined, { signal }).catch(() => undefined);
    else if ('state' in deed) stage.status(deed.state, deed.said);
    else if ('chunk' in deed) stage.chunk(deed.chunk, deed.append, deed.last);
    else if ('echo' in deed) stage.echo();
  }
  if (signal.aborted) stage.status('canceled');
}

/** An agent for the SDK of 1.0. */
class WrappedFixtures {
  readonly #canceled = new Map<string, () => void>();
  readonly #resting = new Map<string, string>();

  async execute({ userMessage, taskId, contextId, task }: any, bus: any): Promise<void> {
    const { AgentEvent } = sdk13 as any;
    const part = (text: string) => ({
      content: { $case: 'text', value: text },
      metadata: undefined,
      filename: '',
      mediaType: 'text/plain',
    });
    const message = (said: string) => ({
      messageId: crypto.randomUUID(),
      contextId,
      taskId,
      role: 2,
      parts: [part(said)],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    });
    const text = userMessage.parts
      .map((each: any) => (each.content?.$case === 'text' ? each.content.value : ''))
      .join('');
    const deeds = deedsOf(text, task !== undefined);
    if (deeds[0] && 'message' in deeds[0]) {
      bus.publish(AgentEvent.message({ ...message(deeds[0].message), taskId: '' }));
      return;
    }
    const submitted = { state: TaskState.TASK_STATE_SUBMITTED, timestamp: time(), message: undefined };
    bus.publish(
      AgentEvent.task(
        task ?? {
          id: taskId,
          contextId,
          status: submitted,
          artifacts: [],
          history: [userMessage],
          metadata: undefined,
        },
      ),
    );
    const artifact = (parts: unknown[], append: boolean, lastChunk: boolean): void =>
      bus.publish(
        AgentEvent.artifactUpdate({
          taskId,
          contextId,
          append,
          lastChunk,
          metadata: undefined,
          artifact: {
            artifactId: 'answer',
            name: 'answer',
            description: '',
            metadata: undefined,
            extensions: [],
            parts,
          },
        }),
      );
    const stop = new AbortController();
    this.#canceled.set(taskId, () => stop.abort());
    this.#resting.set(taskId, contextId);
    await play(deeds, stop.signal, {
      status: (state, said) =>
        bus.publish(
          AgentEvent.statusUpdate({
            taskId,
            contextId,
            metadata: undefined,
            status: {
              state: (TaskState as any)[`TASK_STATE_${state.toUpperCase().replace('-', '_')}`],
              timestamp: time(),
              message: said === undefined ? undefined : message(said),
            },
          }),
        ),
      chunk: (said, append, last) => artifact([part(said)], append, last),
      echo: () => artifact(userMessage.parts, false, true),
    });
    this.#canceled.delete(taskId);
  }

  async cancelTask(taskId: string, bus: any): Promise<void> {
    const cancel = this.#canceled.get(taskId);
    if (cancel) cancel();
    else
      bus.publish(
        (sdk13 as any).AgentEvent.statusUpdate({
          taskId,
          contextId: this.#resting.get(taskId) ?? '',
          metadata: undefined,
          status: { state: TaskState.TASK_STATE_CANCELED, timestamp: time(), message: undefined },
        }),
      );
  }
}

const skill = {
  id: 'fixtures',
  name: 'Fixtures',
  description: 'Obeys the texts of the fixtures',
  tags: ['test'],
  examples: ['fx:complete'],
  inputModes: ['text/plain', 'application/json'],
  outputModes: ['text/plain'],
};
const modes = { defaultInputModes: ['text/plain', 'application/json'], defaultOutputModes: ['text/plain'] };

async function start(mount: (app: Express, url: string) => void): Promise<Started> {
  const app = express();
  const server = await new Promise<Server>((resolve) => {
    const listening = app.listen(0, '127.0.0.1', () => resolve(listening));
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  mount(app, url);
  return {
    url,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const tagged = (url: string) => ({
  name: 'Fixtures',
  description: 'Does what a text of the fixtures says',
  version: '1.2.3',
  ...modes,
  url,
  skills: [skill],
});

/** The fixtures on SDK 0.2. */
export function startFixtures02(): Promise<Started> {
  return start((app, url) => {
    const card: any = { ...tagged(`${url}/`), capabilities: { streaming: true, pushNotifications: false } };
    const handler = new sdk02.DefaultRequestHandler(
      card,
      new sdk02.InMemoryTaskStore(),
      new TaggedFixtures() as any,
    );
    new sdk02.A2AExpressApp(handler).setupRoutes(app as any);
  });
}

/** The fixtures on SDK 0.3, over JSON-RPC and REST. */
export function startFixtures03(): Promise<Started> {
  return start((app, url) => {
    const card: any = {
      ...tagged(`${url}/rpc`),
      protocolVersion: '0.3.0',
      preferredTransport: 'JSONRPC',
      additionalInterfaces: [
        { url: `${url}/rpc`, transport: 'JSONRPC' },
        { url: `${url}/rest`, transport: 'HTTP+JSON' },
      ],
      capabilities: { streaming: true, pushNotifications: true },
    };
    const requestHandler = new sdk03.DefaultRequestHandler(
      card,
      new sdk03.InMemoryTaskStore(),
      new TaggedFixtures() as any,
    );
    const userBuilder = async () => ({ isAuthenticated: true, userName: 'tester' });
    app.use(
      '/.well-known/agent-card.json',
      express03.agentCardHandler({ agentCardProvider: requestHandler }) as any,
    );
    app.use('/rpc', express03.jsonRpcHandler({ requestHandler, userBuilder }) as any);
    app.use('/rest', express03.restHandler({ requestHandler, userBuilder }) as any);
  });
}

/** The fixtures on SDK 1.3, over JSON-RPC and REST. */
export function startFixtures13(): Promise<Started> {
  return start((app, url) => {
    const card: any = {
      name: 'Fixtures',
      description: 'Does what a text of the fixtures says',
      version: '1.2.3',
      supportedInterfaces: [
        { url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' },
        { url: `${url}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0', tenant: '' },
      ],
      capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: false, extensions: [] },
      securitySchemes: {},
      securityRequirements: [],
      signatures: [],
      ...modes,
      skills: [{ ...skill, securityRequirements: [] }],
    };
    const requestHandler = new sdk13.DefaultRequestHandler(
      card,
      new sdk13.InMemoryTaskStore() as any,
      new WrappedFixtures() as any,
    );
    const userBuilder = async () => ({ isAuthenticated: true, userName: 'tester' });
    app.use(
      '/.well-known/agent-card.json',
      express13.agentCardHandler({ agentCardProvider: requestHandler }) as any,
    );
    app.use('/rpc', express13.jsonRpcHandler({ requestHandler, userBuilder }) as any);
    app.use('/rest', express13.restHandler({ requestHandler, userBuilder }) as any);
  });
}
