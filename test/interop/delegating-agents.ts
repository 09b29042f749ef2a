/**
 * Agents that ask other agents when they are told to, on free ports of this machine: `Ask <url>: <text>` is answered
 * with what the agent at the address answers to the text, anything else is said back.
 */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { TaskState } from 'sdk-1.3';
import { ClientFactory, JsonRpcTransportFactory } from 'sdk-1.3/client';
import * as sdk13 from 'sdk-1.3/server';
import * as express13 from 'sdk-1.3/server/express';
import { connect } from '../../src/client/connect.ts';
import { defineAgent } from '../../src/engine/local-agent.ts';
import { textOf } from '../../src/protocol/part.ts';
import { isTask } from '../../src/protocol/task.ts';
import { serve } from '../../src/server/node.ts';
import { say } from './sdk-1.3-words.ts';
import type { Started } from './official-servers.ts';

const skill = {
  id: 'ask',
  name: 'Ask',
  description: 'Asks another agent',
  tags: ['delegation'],
  examples: ['Ask {url}: {text}', 'hello'],
};

function handOn(text: string): { url: string; words: string } | undefined {
  const [, url, words] = /^Ask (\S+): (.*)$/s.exec(text) ?? [];
  return url === undefined || words === undefined ? undefined : { url, words };
}

/** What an agent does with a text. */
type Deed = (text: string) => Promise<string>;

/** Asks the other agent with the client of this project. */
async function askWithOurs(text: string): Promise<string> {
  const handed = handOn(text);
  if (!handed) return `Said: ${text}`;
  const agent = connect(handed.url);
  try {
    const parts = [{ text: handed.words }];
    const answer = await agent.send({ message: { messageId: crypto.randomUUID(), role: 'user', parts } });
    return isTask(answer)
      ? (answer.artifacts ?? []).map((each) => textOf(each.parts)).join('\n')
      : textOf(answer.parts);
  } finally {
    await agent.close?.();
  }
}

async function serveDeed(name: string, deed: Deed, skills = [skill]): Promise<Started> {
  const agent = defineAgent({
    name,
    description: 'Asks others',
    skills,
    async *process({ text }) {
      yield await deed(text);
    },
  });
  const server = await serve(agent);
  const close = async (): Promise<void> => {
    await server.stop(0);
    await agent.close();
  };
  return { url: server.url, close };
}

/** One that asks others. */
export const startDelegating = (): Promise<Started> => serveDeed('Ours', askWithOurs);

/** One that asks others and does not say so in its card. */
export const startSilent = (): Promise<Started> =>
  serveDeed('Silent', askWithOurs, [{ ...skill, tags: ['test'] }]);

/** One that says that it asks others, and only says back what it was told. */
export const startPretending = (): Promise<Started> =>
  serveDeed('Pretending', async (text) => handOn(text)?.words ?? text);

/** One that says that it asks others, and answers something else. */
export const startRefusing = (): Promise<Started> => serveDeed('Refusing', async () => 'Not today.');

/** One that keeps the text of a task where the next one finds it. */
export function startMixing(): Promise<Started> {
  let kept: string | undefined;
  return serveDeed('Mixing', async (text) => {
    if (!handOn(text)) return text;
    const before = kept ?? text;
    kept = text;
    return askWithOurs(before);
  });
}

/** One on the official SDK, which asks others with the client of the SDK. */
export async function startOfficialDelegating(): Promise<Started> {
  const app = express();
  const server = await new Promise<Server>((resolve) => {
    const listening = app.listen(0, '127.0.0.1', () => resolve(listening));
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const card: any = {
    name: 'Official',
    description: 'Asks others',
    version: '1.0.0',
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' }],
    capabilities: { streaming: false, pushNotifications: false, extendedAgentCard: false, extensions: [] },
    securitySchemes: {},
    securityRequirements: [],
    signatures: [],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ ...skill, inputModes: [], outputModes: [], securityRequirements: [] }],
  };
  const handler = new sdk13.DefaultRequestHandler(
    card,
    new sdk13.InMemoryTaskStore() as any,
    new OfficialDelegate() as any,
  );
  const userBuilder = async () => ({ isAuthenticated: true, userName: 'tester' });
  app.use('/.well-known/agent-card.json', express13.agentCardHandler({ agentCardProvider: handler }) as any);
  app.use('/', express13.jsonRpcHandler({ requestHandler: handler, userBuilder }) as any);
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url, close };
}

class OfficialDelegate {
  async execute({ userMessage, taskId, contextId }: any, bus: any): Promise<void> {
    const { AgentEvent } = sdk13 as any;
    const text = String(userMessage.parts[0]?.content?.value ?? '');
    const status = (state: TaskState) => ({
      state,
      timestamp: new Date().toISOString(),
      message: undefined,
    });
    const none = { metadata: undefined, extensions: [] };
    const begun = { history: [userMessage], artifacts: [], ...none };
    bus.publish(
      AgentEvent.task({ id: taskId, contextId, status: status(TaskState.TASK_STATE_SUBMITTED), ...begun }),
    );
    let answer: string | undefined;
    try {
      answer = await this.#answer(text);
    } catch {
      // An agent that is not there is no answer.
    }
    if (answer !== undefined) {
      const parts = [
        { content: { $case: 'text', value: answer }, metadata: undefined, filename: '', mediaType: '' },
      ];
      const artifact = { artifactId: 'answer', name: 'answer', description: '', parts, ...none };
      bus.publish(
        AgentEvent.artifactUpdate({ taskId, contextId, artifact, append: false, lastChunk: true, ...none }),
      );
    }
    const state = answer === undefined ? TaskState.TASK_STATE_FAILED : TaskState.TASK_STATE_COMPLETED;
    bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: status(state), ...none }));
  }

  async cancelTask(): Promise<void> {}

  async #answer(text: string): Promise<string> {
    const handed = handOn(text);
    if (!handed) return `Heard: ${text}`;
    const factory = new ClientFactory({ transports: [new JsonRpcTransportFactory()] } as any);
    const client = await factory.createFromUrl(handed.url);
    const answer: any = await client.sendMessage(say(handed.words));
    const value = answer.payload?.value ?? answer;
    const parts = value.parts ?? (value.artifacts ?? []).flatMap((each: any) => each.parts);
    return parts.map((part: any) => part.content?.value ?? '').join('\n');
  }
}
