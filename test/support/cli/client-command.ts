import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runDragoman, type CommandResult, type RunningCommand } from './run-command.ts';
import { runInProcess } from './run-in-process.ts';
import {
  respondJson,
  type RawServerRequest,
  type RawServer,
  startEventStream,
  startRawServer,
} from '../http/raw-server.ts';

/** Runs client commands with an empty home directory. */
export class CliUser {
  readonly home = mkdtempSync(join(tmpdir(), 'dragoman-home-'));

  start(args: readonly string[], env: Record<string, string> = {}, cwd = this.home): RunningCommand {
    return runDragoman(args, { cwd, env: { HOME: this.home, NO_COLOR: '1', ...env } });
  }

  /** Runs a command until it exits. */
  async run(
    args: readonly string[],
    { env = {}, cwd = this.home, input }: { env?: Record<string, string>; cwd?: string; input?: string } = {},
  ): Promise<CommandResult> {
    const running = this.start(args, env, cwd);
    running.process.stdin?.end(input ?? '');
    return running.ended;
  }

  /** Runs a command in this process until it ends. */
  runInProcess(
    args: readonly string[],
    { env = {}, cwd = this.home }: { env?: Record<string, string>; cwd?: string } = {},
  ): Promise<CommandResult> {
    return runInProcess(args, { cwd, env: { HOME: this.home, NO_COLOR: '1', ...env } });
  }

  removeHome(): void {
    rmSync(this.home, { recursive: true, force: true });
  }
}

/** Starts `dragoman demo-server` and waits until it listens. */
export async function startDemoServer(
  user: CliUser,
  flags: readonly string[] = [],
): Promise<RunningCommand & { url: string }> {
  const running = user.start(['demo-server', ...flags]);
  const [, url = ''] = await running.prints(/^listening on (\S+)\n/);
  return Object.assign(running, { url });
}

/** Responses of a scripted 1.0 agent. */
export interface AgentScript {
  card?: object;
  /** Returns the result of a method, or `{ error }`. */
  on?: { [method: string]: (params: any, request: RawServerRequest) => unknown };
  /** Writes the events of a stream. */
  stream?: (params: any, events: ReturnType<typeof startEventStream>, method: string) => unknown;
}

/** Returns a 1.0 card for an agent at a URL. */
export function card1_0At(url: string, more: object = {}): { [member: string]: unknown } {
  return {
    name: 'Scripted',
    description: 'Does what a test says',
    version: '1.0.0',
    supportedInterfaces: [{ url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: { streaming: false, pushNotifications: false },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 's', name: 'S', description: 'Something', tags: ['t'] }],
    ...more,
  };
}

/** Returns a task in the 1.0 wire format. */
export function wireTask1_0(state: string, more: object = {}): { [member: string]: unknown } {
  return { id: 'task-1', contextId: 'context-1', status: { state: `TASK_STATE_${state}` }, ...more };
}

/** Starts a 1.0 agent with scripted responses. */
export function startScriptedAgent({ card = {}, on = {}, stream }: AgentScript): Promise<RawServer> {
  return startRawServer((request, response, url) => {
    if (request.method === 'GET') {
      const isCard = request.path.endsWith('agent-card.json');
      respondJson(response, isCard ? card1_0At(url, card) : { error: 'no' }, isCard ? 200 : 404);
      return;
    }
    const { id, method, params } = request.json as { id: unknown; method: string; params: unknown };
    if (stream && (method === 'SendStreamingMessage' || method === 'SubscribeToTask')) {
      const events = startEventStream(response);
      stream(params, { ...events, event: (result) => events.event({ jsonrpc: '2.0', id, result }) }, method);
      return;
    }
    const result = on[method]?.(params, request) ?? { error: { code: -32601, message: 'Method not found' } };
    const isError = typeof result === 'object' && result !== null && 'error' in result;
    respondJson(response, { jsonrpc: '2.0', id, ...(isError ? result : { result }) });
  });
}
