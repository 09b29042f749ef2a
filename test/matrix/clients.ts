import type { BrokerConnection } from '../../src/mesh/brokers/broker-connection.ts';
import { streamSseFrames } from '../support/http/sse-frames.ts';
import { MeshTestClient } from '../support/mesh/mesh-test-client.ts';
import { httpOpen } from '../support/http/http-calls.ts';
import { buildParts, type Content, readContent, type WireContent, type WireVersion } from './versions.ts';

/** Everything that was received for one request. */
export interface Outcome extends WireContent {
  /** The last state. */
  readonly state: string | undefined;
  /** Number of updates before the last response; 0 without a stream. */
  readonly updates: number;
  /** Texts of the last response: message and artifacts. */
  readonly lastTexts: readonly string[];
  /** Message of an error. */
  readonly error: string | undefined;
  readonly taskId: string | undefined;
}

/** A pending request. */
interface PendingRequest {
  /** Resolves with the task id when the task is working, if observable. */
  readonly started: Promise<string>;
  readonly outcome: Promise<Outcome>;
}

/** A client of an agent of the gateway. */
export interface MatrixClient {
  readonly version: WireVersion;
  request(
    agent: string,
    operation: 'send' | 'stream',
    content: Content,
    ids?: ConversationIds,
  ): PendingRequest;
  cancel(agent: string, taskId: string): Promise<void>;
}

/** Context and task that a request continues. */
interface ConversationIds {
  readonly contextId: string;
  readonly taskId?: string;
}

let count = 0;
export const newId = (): string => `id-${++count}-${crypto.randomUUID()}`;

const methods = {
  '0.1': { send: 'tasks/send', stream: 'tasks/sendSubscribe', cancel: 'tasks/cancel' },
  '0.3': { send: 'message/send', stream: 'message/stream', cancel: 'tasks/cancel' },
  '1.0': { send: 'SendMessage', stream: 'SendStreamingMessage', cancel: 'CancelTask' },
} as const;

export function buildParams(
  version: WireVersion,
  content: Content,
  { contextId, taskId }: ConversationIds,
  newTaskId: string,
): object {
  const parts = buildParts(version, content);
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

export function readOutcome(version: WireVersion, bodies: readonly any[]): Outcome {
  const results = bodies.map((body) => body?.result ?? body);
  const last = readContent(version, results.at(-1));
  return {
    ...readContent(version, results),
    state: last.states.at(0),
    updates: bodies.length - 1,
    lastTexts: last.texts,
    error: readError(bodies.at(-1)),
    taskId: readTaskId(results[0]),
  };
}

function readError(body: any): string | undefined {
  if (body?.error) return String(body.error.message);
  return body?.code !== undefined && body?.message !== undefined ? String(body.message) : undefined;
}

export function readTaskId(result: any): string | undefined {
  const inner = result?.task ?? result?.statusUpdate ?? result?.artifactUpdate ?? result;
  return inner?.taskId ?? inner?.id;
}

/** Creates a client over HTTP. */
export function httpMatrixClient(
  gateway: string,
  version: WireVersion,
  transport: 'JSONRPC' | 'REST',
): MatrixClient {
  const headers: Record<string, string> = version === '1.0' ? { 'a2a-version': '1.0' } : {};
  const isRest = transport === 'REST';
  const prefix = version === '0.3 REST' ? '/v1' : '';
  const rpc = (agent: string, method: string, params: object, accept?: string) =>
    httpOpen(
      `${gateway}/agents/${agent}`,
      { jsonrpc: '2.0', id: newId(), method, params },
      { ...headers, ...(accept !== undefined && { accept }) },
    );
  const versionMethods = methods[version === '0.3 REST' ? '0.3' : version];
  return {
    version,
    request(agent, operation, content, ids = { contextId: newId() }) {
      const params = buildParams(version, content, ids, newId());
      const response = isRest
        ? httpOpen(`${gateway}/agents/${agent}${prefix}/message:${operation}`, params, headers)
        : rpc(
            agent,
            versionMethods[operation],
            params,
            operation === 'stream' ? 'text/event-stream' : undefined,
          );
      let markStarted = (_taskId: string): void => {};
      const started = new Promise<string>((resolve) => {
        markStarted = resolve;
      });
      const outcome = response.then(async (response) => {
        if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
          return readOutcome(version, [await response.json()]);
        const bodies: any[] = [];
        for await (const { data } of streamSseFrames(response)) {
          if (data === undefined) continue;
          bodies.push(data);
          if (readContent(version, data).states.includes('working'))
            markStarted(readTaskId(data.result ?? data) ?? '');
        }
        return readOutcome(version, bodies);
      });
      return { started, outcome };
    },
    async cancel(agent, taskId) {
      const response = isRest
        ? await httpOpen(`${gateway}/agents/${agent}${prefix}/tasks/${taskId}:cancel`, {}, headers)
        : await rpc(agent, versionMethods.cancel, { id: taskId });
      const body = await response.json();
      if (readError(body) !== undefined) throw new Error(`cancel: ${JSON.stringify(body)}`);
    },
  };
}

/** Creates a client over a mesh. */
export async function meshMatrixClient(
  broker: BrokerConnection,
  namespace: string,
  version: '0.1' | '0.3' | '1.0',
): Promise<MatrixClient> {
  const client = await MeshTestClient.join(broker, namespace, `gateway_${version.replace('.', '_')}`);
  return {
    version,
    request(agent, operation, content, ids = { contextId: newId() }) {
      // Each request has its own reply id, which is also the id of a new task.
      const replyId = newId();
      const taskId = ids.taskId ?? replyId;
      const params = buildParams(version, content, ids, taskId);
      const payload = { jsonrpc: '2.0', id: replyId, method: methods[version][operation], params };
      const sent = client.send(agent, replyId, payload, { withStatusTopic: operation === 'stream' });
      const started = sent.then(() =>
        client.waitFor(
          ({ topic, body }) =>
            topic.endsWith(`/${replyId}`) && readContent(version, body).states.includes('working'),
        ),
      );
      const outcome = sent.then(async () => {
        await client.waitForResponse(replyId);
        const all = client.repliesFor(replyId);
        if (client.repliesFor(replyId, 'response').length !== 1 || all.at(-1)?.channel !== 'response')
          throw new Error(`${replyId} must have exactly one response at its end`);
        const bodies = all.map(({ body }) => body);
        return { ...readOutcome(version, bodies), taskId };
      });
      return { started: started.then(() => taskId), outcome };
    },
    async cancel(agent, taskId) {
      const payload = {
        jsonrpc: '2.0',
        id: newId(),
        method: methods[version].cancel,
        params: { id: taskId },
      };
      await client.send(agent, taskId, payload, { withStatusTopic: false, omitReplyTopic: true });
    },
  };
}
