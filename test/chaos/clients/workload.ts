import { randomUUID } from 'node:crypto';
import type { ChaosHistory } from '../history/history.ts';
import type { RecordingClient } from './recording-client.ts';

/** Collaborators of {@link runTask}. */
export interface WorkloadContext {
  readonly history: ChaosHistory;
  readonly random: () => number;
  /** URL of the webhook that records deliveries. */
  readonly webhookUrl: string;
}

type Scenario = (client: RecordingClient, other: RecordingClient, context: WorkloadContext) => Promise<void>;

const newIds = () => ({ messageId: randomUUID(), clientTaskId: randomUUID() });

/** The ids of a new task: 0.1 lets the client choose the id. */
const first = (client: RecordingClient) => {
  const { messageId, clientTaskId } = newIds();
  return { messageId, ...(client.isWithoutIds && { taskId: clientTaskId }) };
};

const chunksUpTo = (count: number): string => Array.from({ length: count }, (_, n) => `${n};`).join('');

/** Sends a text that the agent repeats in chunks, and reads the task elsewhere. */
const send: Scenario = async (client, other, { history, random }) => {
  const count = Math.floor(random() * 4);
  const { id } = await client.send({ text: `echo ${count}`, ...first(client) });
  history.outcomes.push({ taskId: id, state: 'completed', text: chunksUpTo(count) });
  await other.get(id);
};

/** Streams a task. */
const stream: Scenario = async (client, other, { history, random }) => {
  const count = 1 + Math.floor(random() * 6);
  const { id } = await client.stream({ text: `echo ${count}`, ...first(client) });
  history.outcomes.push({ taskId: id, state: 'completed', text: chunksUpTo(count) });
  await other.get(id);
};

/** Starts a task, follows it with two clients and has it delivered to a webhook. */
const follow: Scenario = async (client, other, { history, random, webhookUrl }) => {
  const count = 1 + Math.floor(random() * 6);
  const ids = first(client);
  const path = ids.messageId;
  const { id, failures } = await client.send({
    text: `echo ${count}`,
    returnImmediately: true,
    webhook: `${webhookUrl}/${path}`,
    ...ids,
  });
  const hasArtifacts = client.name.includes('1.0');
  // Without message ids, a client that finds its task does not know whether the webhook was accepted.
  if (failures === 0 || !client.isWithoutIds)
    history.webhooks.push({ path: `/hook/${path}`, taskId: id, after: 0, hasArtifacts });
  history.outcomes.push({ taskId: id, state: 'completed', text: chunksUpTo(count) });
  await Promise.all([client.follow(id, 0), other.follow(id, 0), other.get(id)]);
};

/** Answers a question at any replica: of a run that waits (`ask`), or after it has ended (`turn`). */
const answer =
  (word: 'ask' | 'turn'): Scenario =>
  async (client, other, { history }) => {
    const { id, state: asked, failures } = await client.send({ text: word, ...first(client) });
    // Without message ids, an attempt that a suspended replica receives late is an answer to the question.
    const mayBeAnswered = client.isWithoutIds && failures > 0 && word === 'ask';
    if (asked !== 'input-required') await client.follow(id, 0);
    await other.get(id);
    const reply = { text: `answer ${id}`, messageId: randomUUID(), taskId: id };
    const { state } = await client.send(reply, { isFirst: false, mayBeRefused: mayBeAnswered });
    if (state !== 'completed') await client.follow(id, 0);
    const text = `answer ${id};`;
    history.outcomes.push({
      taskId: id,
      state: 'completed',
      text,
      ...(mayBeAnswered && { orText: `${word};` }),
    });
    await other.get(id);
  };

/** Cancels a task that would run for ever, while another client follows it. */
const cancel: Scenario = async (client, other, { history }) => {
  const { id } = await client.send({ text: 'wait', returnImmediately: true, ...first(client) });
  await Promise.all([other.follow(id, 0), client.cancel(id)]);
  history.outcomes.push({ taskId: id, state: 'canceled', text: '' });
};

/** Sends a message twice at the same time. */
const duplicate: Scenario = async (client, other, context) => {
  if (client.isWithoutIds) return send(client, other, context);
  const message = { text: 'echo 2', messageId: randomUUID() };
  const sent = await Promise.all([client.send(message), client.send(message)]);
  for (const { id } of sent) context.history.outcomes.push({ taskId: id, state: 'completed', text: '0;1;' });
  // Both must be the same task; a second one would have run the message again.
};

const scenarios: readonly Scenario[] = [
  send,
  send,
  stream,
  stream,
  follow,
  follow,
  answer('ask'),
  answer('turn'),
  cancel,
  duplicate,
];

/** Runs one task from its first message to its end, in a random way. */
export function runTask(
  client: RecordingClient,
  other: RecordingClient,
  context: WorkloadContext,
): Promise<void> {
  const scenario = scenarios[Math.floor(context.random() * scenarios.length)] ?? send;
  return scenario(client, other, context);
}
