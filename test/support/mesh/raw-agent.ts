import type { ServerResponse } from 'node:http';
import {
  respondJson,
  type RawServerRequest,
  type RawServer,
  startEventStream,
  startRawServer,
} from '../http/raw-server.ts';

/** What a scripted agent of 0.3 does. Ids are filled in where an event has none. */
export interface RawScript {
  streaming?: boolean;
  /** The events of a stream; the connection is closed after them. */
  stream?: (request: any) => readonly any[];
  /** Answers a stream by hand. */
  open?: (request: any, events: ReturnType<typeof startEventStream>, response: ServerResponse) => unknown;
  /** The result of a send, or `{ error }`. */
  send?: (request: any) => unknown;
  /** Answers a send by hand. */
  hold?: (request: any, response: ServerResponse) => unknown;
  cancel?: (request: any) => unknown;
  get?: (request: any) => unknown;
  /** Answers whatever comes with this, before anything else is looked at. */
  http?: (request: RawServerRequest, response: ServerResponse) => boolean;
}

/** An agent of 0.3, byte for byte as a test wants it. */
export interface RawAgent extends RawServer {
  /** The requests of JSON-RPC, parsed. */
  asked(method?: string): any[];
}

/** The id that the agent gives its task; the mesh must never see it. */
export const innerTask = 'inner-task';
/** The id that the agent gives its context; the mesh must never see it. */
export const innerContext = 'inner-context';

const ids = { taskId: innerTask, contextId: innerContext };

/** A message of the agent. */
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

/** A status update. */
export function rawStatusUpdate(state: string, text?: string, final = false): any {
  const message = text === undefined ? undefined : rawMessage(text);
  return { kind: 'status-update', ...ids, final, status: { state, message } };
}

/** A whole task. */
export function rawTask(state: string, text?: string, more: object = {}): any {
  const message = text === undefined ? undefined : rawMessage(text);
  return { kind: 'task', id: innerTask, contextId: innerContext, status: { state, message }, ...more };
}

/** An artifact update. */
export function rawArtifactUpdate(artifactId: string, parts: unknown[], more: object = {}): any {
  return { kind: 'artifact-update', ...ids, artifact: { artifactId, parts }, ...more };
}

/** Starts a scripted agent. */
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
    const reply = (result: any): void =>
      respondJson(response, { jsonrpc: '2.0', id: body.id, ...(result?.error ? result : { result }) });
    const unknown = { error: { code: -32001, message: 'Task not found' } };
    switch (body.method) {
      case 'message/stream': {
        const stream = startEventStream(response);
        const say = (result: any) =>
          stream.event({ jsonrpc: '2.0', id: body.id, ...(result?.error ? result : { result }) });
        if (script.open) script.open(body, { ...stream, event: say }, response);
        else {
          for (const event of script.stream?.(body) ?? []) say(event);
          stream.end();
        }
        return;
      }
      case 'message/send':
        if (script.hold) script.hold(body, response);
        else reply(script.send?.(body) ?? rawTask('completed', 'done'));
        return;
      case 'tasks/cancel':
        reply(script.cancel?.(body) ?? rawTask('canceled'));
        return;
      case 'tasks/get':
        reply(script.get?.(body) ?? unknown);
        return;
      default:
        reply(unknown);
    }
  });
  const asked = (method?: string) =>
    server.requests
      .map((each) => each.json)
      .filter((body) => body?.method && (method === undefined || body.method === method));
  return Object.assign(server, { asked });
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
