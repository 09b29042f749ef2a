import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runDragoman, type CommandResult, type RunningCommand } from './run-command.ts';
import {
  respondJson,
  type RawServerRequest,
  type RawServer,
  startEventStream,
  startRawServer,
} from '../http/raw-server.ts';

/** A person who has nothing but a home, and runs the client commands from there. */
export class CliUser {
  readonly home = mkdtempSync(join(tmpdir(), 'dragoman-person-'));

  /** Starts a command. */
  start(args: readonly string[], env: Record<string, string> = {}, cwd = this.home): RunningCommand {
    return runDragoman(args, { cwd, env: { HOME: this.home, NO_COLOR: '1', ...env } });
  }

  /** Runs a command to its end. */
  async run(
    args: readonly string[],
    { env = {}, cwd = this.home, input }: { env?: Record<string, string>; cwd?: string; input?: string } = {},
  ): Promise<CommandResult> {
    const running = this.start(args, env, cwd);
    running.process.stdin?.end(input ?? '');
    return running.ended;
  }

  leave(): void {
    rmSync(this.home, { recursive: true, force: true });
  }
}

/** Starts the demo agent of the command. */
export async function startDemoServer(
  person: CliUser,
  flags: readonly string[] = [],
): Promise<RunningCommand & { url: string }> {
  const running = person.start(['demo-server', ...flags]);
  const [, url = ''] = await running.prints(/^listening on (\S+)\n/);
  return Object.assign(running, { url });
}

/** How an agent of 1.0 answers, byte for byte as a test wants it. */
export interface AgentScript {
  card?: object;
  /** Answers a method: the result, or `{ error }`. */
  on?: { [method: string]: (params: any, request: RawServerRequest) => unknown };
  /** Answers a stream by hand. */
  stream?: (params: any, events: ReturnType<typeof startEventStream>, method: string) => unknown;
}

/** A card of 1.0 for an agent at this address. */
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

/** A task of 1.0. */
export function wireTask1_0(state: string, more: object = {}): { [member: string]: unknown } {
  return { id: 'task-1', contextId: 'context-1', status: { state: `TASK_STATE_${state}` }, ...more };
}

/** Starts an agent that does what a test says. */
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
    const answer = on[method]?.(params, request) ?? { error: { code: -32601, message: 'Method not found' } };
    const isError = typeof answer === 'object' && answer !== null && 'error' in answer;
    respondJson(response, { jsonrpc: '2.0', id, ...(isError ? answer : { result: answer }) });
  });
}
