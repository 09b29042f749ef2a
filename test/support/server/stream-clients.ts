/** Minimal streaming clients, one per protocol variant over HTTP. */
import { v0_1 } from '../../../src/dialects/v0_1/index.ts';
import { v0_3 } from '../../../src/dialects/v0_3/index.ts';
import { v0_3_rest } from '../../../src/dialects/v0_3_rest/index.ts';
import { v1_0 } from '../../../src/dialects/v1_0/index.ts';
import { type Dialect, rpcMethodName } from '../../../src/dialects/dialect.ts';
import { lenientMode } from '../../../src/dialects/translation-loss.ts';
import type { StreamEvent } from '../../../src/protocol/event.ts';
import type { Message } from '../../../src/protocol/message.ts';
import type { TestSseFrame } from '../http/sse-frames.ts';
import { httpOpen } from '../http/http-calls.ts';

/** Streams over one protocol variant. */
export interface StreamClient {
  name: string;
  dialect: Dialect;
  isRest: boolean;
  /** Sends a message and opens its stream. */
  stream(url: string, message: Message, headers?: Record<string, string>): Promise<Response>;
  /** Subscribes to a task. */
  subscribe(url: string, id: string, headers?: Record<string, string>): Promise<Response>;
  /** Decodes SSE frames into events of the model. */
  events(frames: readonly TestSseFrame[], message: Message): StreamEvent[];
}

function createStreamClient(name: string, dialect: Dialect, isRest: boolean): StreamClient {
  const version: Record<string, string> = dialect.version === '1.0' ? { 'a2a-version': '1.0' } : {};
  const prefix = dialect.version === '1.0' ? '' : '/v1';
  const toRequest = (message: Message) =>
    dialect.version === '0.1' ? { message, clientTaskId: `claimed-${message.messageId}` } : { message };
  const rpcRequest = (operation: 'stream' | 'subscribe', params: unknown) => ({
    jsonrpc: '2.0',
    id: 7,
    method: rpcMethodName(dialect, operation),
    params,
  });
  return {
    name,
    dialect,
    isRest,
    stream(url, message, headers = {}) {
      const params = dialect.requests.stream.write(toRequest(message));
      return isRest
        ? httpOpen(`${url}${prefix}/message:stream`, params, { ...version, ...headers })
        : httpOpen(url, rpcRequest('stream', params), { ...version, ...headers });
    },
    subscribe(url, id, headers = {}) {
      return isRest
        ? httpOpen(`${url}${prefix}/tasks/${id}:subscribe`, undefined, { ...version, ...headers }, 'GET')
        : httpOpen(url, rpcRequest('subscribe', { id }), { ...version, ...headers });
    },
    events(frames, message) {
      const { taskId, contextId } = message;
      const reader = dialect.eventReader({ taskId, contextId, message });
      return frames
        .filter(({ data }) => data !== undefined)
        .flatMap(({ data }) => reader.read(isRest ? data : data.result, lenientMode()));
    },
  };
}

export const streamClients: readonly StreamClient[] = [
  createStreamClient('1.0 over JSON-RPC', v1_0, false),
  createStreamClient('1.0 over REST', v1_0, true),
  createStreamClient('0.3 over JSON-RPC', v0_3, false),
  createStreamClient('0.3 over REST', v0_3_rest, true),
  createStreamClient('0.1 over JSON-RPC', v0_1, false),
];

/** Builds a text message of a user with a random id. */
export function userMessage(text: string, more: Partial<Message> = {}): Message {
  return { messageId: crypto.randomUUID(), role: 'user', parts: [{ text }], ...more };
}
