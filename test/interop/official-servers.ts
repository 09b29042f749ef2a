/**
 * Agents on the official SDK, one per version, on a free port of this machine. Each answers to the same words:
 * `stream` comes in chunks, `ask` asks back once, `slow` works until it is canceled, `direct` is answered without a
 * task, and everything else is echoed.
 */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Express } from 'express';
import * as sdk02 from 'sdk-0.2/server';
import * as sdk03 from 'sdk-0.3/server';
import * as express03 from 'sdk-0.3/server/express';
import { TaskState } from 'sdk-1.3';
import * as sdk13 from 'sdk-1.3/server';
import * as express13 from 'sdk-1.3/server/express';

/** A server that was started, and how to stop it. */
export interface Started {
  url: string;
  close(): Promise<void>;
}

const skill = { id: 'echo', name: 'Echo', description: 'Says it back', tags: ['test'] };
const modes = { defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'] };
const time = () => new Date().toISOString();

/** Serves whatever a function mounts. */
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

/** The agent in the words of 0.2 and 0.3. */
class TaggedAgent {
  #working = new Map<string, () => void>();

  async execute({ userMessage, taskId, contextId, task }: any, bus: any): Promise<void> {
    const text = String(userMessage.parts[0]?.text ?? '');
    const status = (state: string, final: boolean, said?: string) =>
      bus.publish({
        kind: 'status-update',
        taskId,
        contextId,
        final,
        status: {
          state,
          timestamp: time(),
          message: said && {
            kind: 'message',
            role: 'agent',
            messageId: crypto.randomUUID(),
            parts: [{ kind: 'text', text: said }],
            taskId,
            contextId,
          },
        },
      });
    const chunk = (said: string, append: boolean, lastChunk: boolean) =>
      bus.publish({
        kind: 'artifact-update',
        taskId,
        contextId,
        append,
        lastChunk,
        artifact: { artifactId: 'answer', name: 'answer', parts: [{ kind: 'text', text: said }] },
      });
    if (text === 'direct') {
      const parts = [{ kind: 'text', text: 'hello' }];
      bus.publish({ kind: 'message', role: 'agent', messageId: crypto.randomUUID(), parts, contextId });
      bus.finished();
      return;
    }
    if (!task) {
      const submitted = { state: 'submitted', timestamp: time() };
      bus.publish({
        kind: 'task',
        id: taskId,
        contextId,
        status: submitted,
        history: [userMessage],
        artifacts: [],
      });
    }
    status('working', false);
    if (text === 'ask') status('input-required', true, 'Which one?');
    else if (text === 'slow') await new Promise<void>((resolve) => this.#working.set(taskId, resolve));
    else if (text === 'stream') for (let i = 0; i < 5; i++) chunk(`${i}`, i > 0, i === 4);
    else chunk(text, false, true);
    if (text === 'slow') status('canceled', true);
    else if (text !== 'ask') status('completed', true);
    bus.finished();
  }

  async cancelTask(taskId: string): Promise<void> {
    this.#working.get(taskId)?.();
  }
}

/** The agent in the words of 1.0. */
class WrappedAgent {
  #working = new Map<string, () => void>();

  async execute({ userMessage, taskId, contextId, task }: any, bus: any): Promise<void> {
    const part = (text: string) => ({
      content: { $case: 'text', value: text },
      metadata: undefined,
      filename: '',
      mediaType: 'text/plain',
    });
    const { AgentEvent } = sdk13 as any;
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
    const status = (state: TaskState, said?: string) =>
      bus.publish(
        AgentEvent.statusUpdate({
          taskId,
          contextId,
          status: { state, timestamp: time(), message: said === undefined ? undefined : message(said) },
          metadata: undefined,
        }),
      );
    const chunk = (said: string, append: boolean, lastChunk: boolean) =>
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
            parts: [part(said)],
          },
        }),
      );
    const text = String(userMessage.parts[0]?.content?.value ?? '');
    if (text === 'direct') {
      bus.publish(AgentEvent.message({ ...message('hello'), taskId: '' }));
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
    status(TaskState.TASK_STATE_WORKING);
    if (text === 'ask') status(TaskState.TASK_STATE_INPUT_REQUIRED, 'Which one?');
    else if (text === 'slow') await new Promise<void>((resolve) => this.#working.set(taskId, resolve));
    else if (text === 'stream') for (let i = 0; i < 5; i++) chunk(`${i}`, i > 0, i === 4);
    else chunk(text, false, true);
    if (text === 'slow') status(TaskState.TASK_STATE_CANCELED);
    else if (text !== 'ask') status(TaskState.TASK_STATE_COMPLETED);
  }

  async cancelTask(taskId: string): Promise<void> {
    this.#working.get(taskId)?.();
  }
}

function taggedCard(url: string, protocolVersion: string): any {
  return {
    protocolVersion,
    name: `Echo ${protocolVersion}`,
    description: 'Says it back',
    url: `${url}/rpc`,
    preferredTransport: 'JSONRPC',
    version: '1.2.3',
    capabilities: { streaming: true, pushNotifications: true },
    ...modes,
    skills: [skill],
  };
}

/** An agent of 0.2. Its card has no version at all. */
export function start02(): Promise<Started> {
  return start((app, url) => {
    const { protocolVersion: _none, preferredTransport: _neither, ...card } = taggedCard(url, '0.2.5');
    card.url = `${url}/`;
    const handler = new sdk02.DefaultRequestHandler(card, new sdk02.InMemoryTaskStore(), new TaggedAgent());
    new sdk02.A2AExpressApp(handler).setupRoutes(app as any);
  });
}

/** An agent of 0.3 with JSON-RPC and REST. */
export function start03(): Promise<Started> {
  return start((app, url) => {
    const card = taggedCard(url, '0.3.0');
    card.additionalInterfaces = [{ url: `${url}/rest`, transport: 'HTTP+JSON' }];
    card.supportsAuthenticatedExtendedCard = true;
    const requestHandler = new sdk03.DefaultRequestHandler(
      card,
      new sdk03.InMemoryTaskStore(),
      new TaggedAgent(),
      undefined,
      undefined,
      undefined,
      { ...card, name: 'Echo extended' },
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

/** An agent of 1.0 with JSON-RPC and REST. */
export function start13(): Promise<Started> {
  return start((app, url) => {
    const card: any = {
      name: 'Echo 1.0',
      description: 'Says it back',
      version: '1.2.3',
      supportedInterfaces: [
        { url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' },
        { url: `${url}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0', tenant: '' },
      ],
      capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true, extensions: [] },
      securitySchemes: {},
      securityRequirements: [],
      signatures: [],
      ...modes,
      skills: [{ ...skill, examples: [], inputModes: [], outputModes: [], securityRequirements: [] }],
    };
    const store = new sdk13.InMemoryTaskStore() as any;
    const requestHandler = new sdk13.DefaultRequestHandler(
      card,
      store,
      new WrappedAgent(),
      undefined,
      undefined,
      undefined,
      { ...card, name: 'Echo extended' },
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
