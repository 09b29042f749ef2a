import type { BrokerConnection } from '../../src/mesh/brokers/broker-connection.ts';
import { streamSseFrames } from '../support/http/sse-frames.ts';
import { MeshTestClient } from '../support/mesh/mesh-test-client.ts';
import { httpOpen } from '../support/http/http-calls.ts';
import { hear, type Heard, partsOf, type Said, type Spoken } from './versions.ts';

/** Everything that came back for one request. */
export interface Outcome extends Heard {
  /** The state in which it ended. */
  readonly state: string | undefined;
  /** How many updates came before the end; of what is no stream, none. */
  readonly updates: number;
  /** What was said with the end: words of the message and of artifacts. */
  readonly lastTexts: readonly string[];
  /** Of an error, its message. */
  readonly error: string | undefined;
  readonly taskId: string | undefined;
}

/** One request on its way. */
interface Asking {
  /** Resolves when the agent is at work, where that can be seen. */
  readonly begun: Promise<string>;
  readonly outcome: Promise<Outcome>;
}

/** Somebody who asks an agent of the gateway. */
export interface Caller {
  readonly version: Spoken;
  ask(agent: string, operation: 'send' | 'stream', said: Said, of?: Conversation): Asking;
  /** Asks to cancel a task of theirs. */
  cancel(agent: string, taskId: string): Promise<void>;
}

/** What a request goes on with. */
interface Conversation {
  readonly contextId: string;
  readonly taskId?: string;
}

let count = 0;
const newId = (): string => `id-${++count}-${crypto.randomUUID()}`;

const methods = {
  '0.1': { send: 'tasks/send', stream: 'tasks/sendSubscribe', cancel: 'tasks/cancel' },
  '0.3': { send: 'message/send', stream: 'message/stream', cancel: 'tasks/cancel' },
  '1.0': { send: 'SendMessage', stream: 'SendStreamingMessage', cancel: 'CancelTask' },
} as const;

/** The parameters of a message. */
function paramsOf(
  version: Spoken,
  said: Said,
  { contextId, taskId }: Conversation,
  newTaskId: string,
): object {
  const parts = partsOf(version, said);
  if (version === '0.1')
    return { id: taskId ?? newTaskId, sessionId: contextId, message: { role: 'user', parts } };
  const message = { messageId: newId(), contextId, taskId };
  switch (version) {
    case '0.3':
      return { message: { ...message, kind: 'message', role: 'user', parts } };
    case '0.3 REST':
      return { message: { ...message, role: 'ROLE_USER', content: parts } };
    default:
      return { message: { ...message, role: 'ROLE_USER', parts } };
  }
}

/** Reads what came, the last one being the end. */
function outcomeOf(version: Spoken, bodies: readonly any[]): Outcome {
  const results = bodies.map((body) => body?.result ?? body);
  const heard = hear(version, results);
  const last = hear(version, results.at(-1));
  return {
    ...heard,
    state: last.states.at(0),
    updates: bodies.length - 1,
    lastTexts: last.texts,
    error: errorIn(bodies.at(-1)),
    taskId: taskIdIn(results[0]),
  };
}

function errorIn(body: any): string | undefined {
  if (body?.error) return String(body.error.message);
  return body?.code !== undefined && body?.message !== undefined ? String(body.message) : undefined;
}

function taskIdIn(result: any): string | undefined {
  const inner = result?.task ?? result?.statusUpdate ?? result?.artifactUpdate ?? result;
  return inner?.taskId ?? inner?.id;
}

/** A caller over HTTP. */
export function httpCaller(gateway: string, version: Spoken, transport: 'JSONRPC' | 'REST'): Caller {
  const headers: Record<string, string> = version === '1.0' ? { 'a2a-version': '1.0' } : {};
  const isRest = transport === 'REST';
  const prefix = version === '0.3 REST' ? '/v1' : '';
  const rpc = (agent: string, method: string, params: object, accept?: string) =>
    httpOpen(
      `${gateway}/agents/${agent}`,
      { jsonrpc: '2.0', id: newId(), method, params },
      { ...headers, ...(accept !== undefined && { accept }) },
    );
  const methodsHere = methods[version === '0.3 REST' ? '0.3' : version];
  return {
    version,
    ask(agent, operation, said, of = { contextId: newId() }) {
      const params = paramsOf(version, said, of, newId());
      const response = isRest
        ? httpOpen(`${gateway}/agents/${agent}${prefix}/message:${operation}`, params, headers)
        : rpc(
            agent,
            methodsHere[operation],
            params,
            operation === 'stream' ? 'text/event-stream' : undefined,
          );
      let begin = (_taskId: string): void => {};
      const begun = new Promise<string>((resolve) => {
        begin = resolve;
      });
      const outcome = response.then(async (answer) => {
        if (!answer.headers.get('content-type')?.startsWith('text/event-stream'))
          return outcomeOf(version, [await answer.json()]);
        const bodies: any[] = [];
        for await (const { data } of streamSseFrames(answer)) {
          if (data === undefined) continue;
          bodies.push(data);
          if (hear(version, data).states.includes('working')) begin(taskIdIn(data.result ?? data) ?? '');
        }
        return outcomeOf(version, bodies);
      });
      return { begun, outcome };
    },
    async cancel(agent, taskId) {
      const answer = isRest
        ? await httpOpen(`${gateway}/agents/${agent}${prefix}/tasks/${taskId}:cancel`, {}, headers)
        : await rpc(agent, methodsHere.cancel, { id: taskId });
      const body = await answer.json();
      if (errorIn(body) !== undefined) throw new Error(`cancel: ${JSON.stringify(body)}`);
    },
  };
}

/** A caller over a mesh. */
export async function meshCaller(
  link: BrokerConnection,
  namespace: string,
  version: '0.1' | '0.3' | '1.0',
): Promise<Caller> {
  const caller = await MeshTestClient.join(link, namespace, `gateway_${version.replace('.', '_')}`);
  return {
    version,
    ask(agent, operation, said, of = { contextId: newId() }) {
      // Each request has a place of its own for its answer; a new task is called like it.
      const place = newId();
      const taskId = of.taskId ?? place;
      const params = paramsOf(version, said, of, taskId);
      const payload = { jsonrpc: '2.0', id: place, method: methods[version][operation], params };
      const sent = caller.send(agent, place, payload, { withStatusTopic: operation === 'stream' });
      const begun = sent.then(() =>
        caller.waitFor(
          ({ topic, body }) => topic.endsWith(`/${place}`) && hear(version, body).states.includes('working'),
        ),
      );
      const outcome = sent.then(async () => {
        await caller.waitForResponse(place);
        const all = caller.repliesFor(place);
        if (caller.repliesFor(place, 'response').length !== 1 || all.at(-1)?.channel !== 'response')
          throw new Error(`${place} has not one answer at its end`);
        const bodies = all.map(({ body }) => body);
        return { ...outcomeOf(version, bodies), taskId };
      });
      return { begun: begun.then(() => taskId), outcome };
    },
    async cancel(agent, taskId) {
      const payload = {
        jsonrpc: '2.0',
        id: newId(),
        method: methods[version].cancel,
        params: { id: taskId },
      };
      await caller.send(agent, taskId, payload, { withStatusTopic: false, omitReplyTopic: true });
    },
  };
}
