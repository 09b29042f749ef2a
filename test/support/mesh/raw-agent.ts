import type { ServerResponse } from 'node:http';
import {
  respondJson,
  type RawServerRequest,
  type RawServer,
  startEventStream,
  startRawServer,
} from '../http/raw-server.ts';

/** Responses of a scripted 0.3 agent. */
export interface RawScript {
  streaming?: boolean;
  /** Returns the events of a stream, after which the connection is closed. */
  stream?: (request: any) => readonly any[];
  /** Writes the events of a stream; replaces `stream`. */
  open?: (request: any, events: ReturnType<typeof startEventStream>, response: ServerResponse) => unknown;
  /** Returns the result of a send, or `{ error }`. */
  send?: (request: any) => unknown;
  /** Writes the response of a send; replaces `send`. */
  hold?: (request: any, response: ServerResponse) => unknown;
  cancel?: (request: any) => unknown;
  get?: (request: any) => unknown;
  /** Intercepts every request first; returns true if it wrote the response. */
  http?: (request: RawServerRequest, response: ServerResponse) => boolean;
}

/** A running scripted 0.3 agent. */
export interface RawAgent extends RawServer {
  /** Returns the received JSON-RPC requests, optionally of one method only. */
  rpcRequests(method?: string): any[];
}

/** Task id of the agent; it must not appear on the mesh. */
export const innerTask = 'inner-task';
/** Context id of the agent; it must not appear on the mesh. */
export const innerContext = 'inner-context';

const ids = { taskId: innerTask, contextId: innerContext };

/** Builds a message of the agent. */
export function rawMessage(text: string, more: object = {}): any {
  return {
    kind: 'message',
    role: 'agent',
    messageId: `w-${text}`,
    parts: [{ kind: 'text', text }],
    ...ids,
    ...more,
  };
}

/** Builds a status update. */
export function rawStatusUpdate(state: string, text?: string, final = false): any {
  const message = text === undefined ? undefined : rawMessage(text);
  return { kind: 'status-update', ...ids, final, status: { state, message } };
}

/** Builds a task. */
export function rawTask(state: string, text?: string, more: object = {}): any {
  const message = text === undefined ? undefined : rawMessage(text);
  return { kind: 'task', id: innerTask, contextId: innerContext, status: { state, message }, ...more };
}

/** Builds an artifact update. */
export function rawArtifactUpdate(artifactId: string, parts: unknown[], more: object = {}): any {
  return { kind: 'artifact-update', ...ids, artifact: { artifactId, parts }, ...more };
}

export async function startRawAgent(script: RawScript): Promise<RawAgent> {
  const server = await startRawServer((request, response, url) => {
    if (script.http?.(request, response)) return;
    if (request.path === '/.well-known/agent-card.json') {
      respondJson(response, cardOf(url, script.streaming ?? true));
      return;
    }
    const body = request.json;
    if (!body?.method) {
      respondJson(response, {}, 404);
      return;
    }
    const respond = (result: any): void =>
      respondJson(response, { jsonrpc: '2.0', id: body.id, ...(result?.error ? result : { result }) });
    const notFound = { error: { code: -32001, message: 'Task not found' } };
    switch (body.method) {
      case 'message/stream': {
        const stream = startEventStream(response);
        const sendEvent = (result: any) =>
          stream.event({ jsonrpc: '2.0', id: body.id, ...(result?.error ? result : { result }) });
        if (script.open) script.open(body, { ...stream, event: sendEvent }, response);
        else {
          for (const event of script.stream?.(body) ?? []) sendEvent(event);
          stream.end();
        }
        return;
      }
      case 'message/send':
        if (script.hold) script.hold(body, response);
        else respond(script.send?.(body) ?? rawTask('completed', 'done'));
        return;
      case 'tasks/cancel':
        respond(script.cancel?.(body) ?? rawTask('canceled'));
        return;
      case 'tasks/get':
        respond(script.get?.(body) ?? notFound);
        return;
      default:
        respond(notFound);
    }
  });
  const rpcRequests = (method?: string) =>
    server.requests
      .map((each) => each.json)
      .filter((body) => body?.method && (method === undefined || body.method === method));
  return Object.assign(server, { rpcRequests });
}

function cardOf(url: string, streaming: boolean): object {
  return {
    protocolVersion: '0.3.0',
    name: 'Raw Agent',
    description: 'Does what a test says',
    url: `${url}/a2a`,
    preferredTransport: 'JSONRPC',
    version: '1.0.0',
    capabilities: { streaming },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 's', name: 'Skill', description: 'Does it', tags: ['t'] }],
  };
}
