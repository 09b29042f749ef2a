/**
 * Agents that call other agents on request, on free loopback ports. The response to `Ask <url>: <text>` is the response
 * of the agent at the URL; other texts are echoed.
 */
import { ClientFactory, JsonRpcTransportFactory } from 'sdk-1.3/client';
import { connect } from '../../src/client/connect.ts';
import { defineAgent } from '../../src/engine/local-agent.ts';
import { textOf } from '../../src/protocol/part.ts';
import { isTask } from '../../src/protocol/task.ts';
import { serve } from '../../src/server/node/serve.ts';
import { answer } from './agent-commands.ts';
import { type Started, start13 } from './official-servers.ts';
import { say } from './sdk-1.3-messages.ts';

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

/** Returns the response of an agent to a text. */
type Behavior = (text: string) => Promise<string>;

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

async function serveBehavior(name: string, behavior: Behavior, skills = [skill]): Promise<Started> {
  const agent = defineAgent({
    name,
    description: 'Asks others',
    skills,
    async *process({ text }) {
      yield await behavior(text);
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
export const startDelegating = (): Promise<Started> => serveBehavior('Ours', askWithOurs);

/** One that asks others and does not say so in its card. */
export const startSilent = (): Promise<Started> =>
  serveBehavior('Silent', askWithOurs, [{ ...skill, tags: ['test'] }]);

/** Starts an agent that claims to delegate but only echoes its input. */
export const startPretending = (): Promise<Started> =>
  serveBehavior('Pretending', async (text) => handOn(text)?.words ?? text);

/** Declares delegation and returns another text. */
export const startRefusing = (): Promise<Started> => serveBehavior('Refusing', async () => 'Not today.');

/** One that keeps the text of a task where the next one finds it. */
export function startMixing(): Promise<Started> {
  let kept: string | undefined;
  return serveBehavior('Mixing', async (text) => {
    if (!handOn(text)) return text;
    const before = kept ?? text;
    kept = text;
    return askWithOurs(before);
  });
}

/** Asks the other agent with the client of the SDK. */
async function askWithOfficial(text: string): Promise<string> {
  const handed = handOn(text);
  if (!handed) return `Heard: ${text}`;
  const factory = new ClientFactory({ transports: [new JsonRpcTransportFactory()] } as any);
  const client = await factory.createFromUrl(handed.url);
  const answered: any = await client.sendMessage(say(handed.words));
  const value = answered.payload?.value ?? answered;
  const parts = value.parts ?? (value.artifacts ?? []).flatMap((each: any) => each.parts);
  return parts.map((part: any) => part.content?.value ?? '').join('\n');
}

/** One on the official SDK, which asks others with the client of the SDK. */
export const startOfficialDelegating = (): Promise<Started> =>
  start13({
    name: 'Official',
    description: 'Asks others',
    skill,
    // An agent that is not there is no answer.
    plan: (text) => askWithOfficial(text).then(answer, () => [{ state: 'failed' }]),
  });
