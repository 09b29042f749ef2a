import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest';
import { connectMemoryBroker } from '../mesh/brokers/memory/connect-memory.ts';
import { meshAgent } from '../mesh/client/mesh-agent.ts';
import { serveOnMesh } from '../mesh/server/serve-on-mesh.ts';
import type { LogEntry } from '../primitives/log.ts';
import type { Agent } from '../protocol/agent.ts';
import { withInterceptor } from '../protocol/composition/with-interceptor.ts';
import { A2AError } from '../protocol/errors.ts';
import type { Task } from '../protocol/task.ts';
import { connect } from '../client/connect.ts';
import { bearerAuth } from '../server/auth/schemes/bearer.ts';
import { serve } from '../server/node/serve.ts';
import type { ServeOptions } from '../server/node/serve.ts';
import type { AgentDefinition, AgentOptions } from './agent-definition.ts';
import { defineAgent } from './local-agent.ts';

let standardError: MockInstance<typeof console.error>;

beforeEach(() => {
  standardError = vi.spyOn(console, 'error').mockImplementation(() => {});
});

afterEach(() => {
  standardError.mockRestore();
});

const written = (): string => standardError.mock.calls.flat().join('\n');

function causeOfFailure(): never {
  throw new TypeError('secret detail');
}

const define = (definition: Partial<AgentDefinition> = {}, options: AgentOptions = {}) =>
  defineAgent({ name: 'T', description: 'T', process: () => causeOfFailure(), ...definition }, options);

/** Serves an agent and returns what its client sees. */
async function seenByClient(agent: Agent, options: ServeOptions = {}): Promise<string> {
  const server = await serve(agent, { port: 0, ...options });
  const remote = connect(server.url);
  try {
    return JSON.stringify(await remote.send('hi'));
  } catch (error) {
    return JSON.stringify([error, (error as Error).message, (error as A2AError).details]);
  } finally {
    await remote.close();
    await server.stop();
  }
}

describe('an exception of an author', () => {
  it.each<[string, AgentDefinition['process']]>([
    ['a function', () => causeOfFailure()],
    ['an async function', async () => causeOfFailure()],
    [
      'a generator',
      async function* () {
        yield 'start';
        causeOfFailure();
      },
    ],
  ])('writes an exception of process (%s) to standard error with its stack', async (_name, process) => {
    const agent = define({ process });
    const seen = await seenByClient(agent);
    expect(seen).toContain('failed');
    expect(seen).not.toContain('secret detail');
    expect(written()).toMatch(
      /^error: Process function failed \(task .+\)\nTypeError: secret detail\n\s+at causeOfFailure/,
    );
  });

  it('writes an exception in the cleanup of a canceled generator to standard error', async () => {
    const agent = define({
      async *process() {
        try {
          yield 'start';
          yield await new Promise<string>(() => {});
        } finally {
          causeOfFailure();
        }
      },
    });
    const { id } = (await agent.send({
      message: { messageId: 'm', role: 'user', parts: [{ text: 'x' }] },
      configuration: { returnImmediately: true },
    })) as Task;
    await agent.cancelTask({ id });
    expect((await agent.getTask({ id })).status.state).toBe('canceled');
  });

  it('writes an exception of a wrapper to standard error with its stack, and hides it from the client', async () => {
    const wrapped = withInterceptor(define({ process: () => 'fine' }), {
      send: async () => causeOfFailure(),
    });
    expect(await seenByClient(wrapped)).not.toContain('secret detail');
    expect(written()).toMatch(/^error: POST \/ failed\n[^]*TypeError: secret detail\n\s+at causeOfFailure/);
  });

  it.each<[string, ServeOptions]>([
    [
      'authorize',
      {
        auth: {
          authenticators: [bearerAuth({ tokens: { a: 'ann' } })],
          allowAnonymous: true,
          authorize: () => causeOfFailure(),
        },
      },
    ],
    ['onTraffic', { onTraffic: () => causeOfFailure() }],
    ['log', { log: () => causeOfFailure() }],
  ])('writes an exception of the hook %s to standard error with its stack', async (_name, options) => {
    expect(await seenByClient(define({ process: () => 'fine' }), options)).not.toContain('secret detail');
    expect(written()).toMatch(/TypeError: secret detail\n\s+at causeOfFailure/);
  });

  it('writes an exception of onError itself with its stack', async () => {
    const wrapped = withInterceptor(define(), { send: async () => Promise.reject(new Error('first')) });
    await seenByClient(wrapped, { onError: () => causeOfFailure() });
    expect(written()).toMatch(/^error: onError failed\nTypeError: secret detail\n\s+at/);
  });

  it('writes an exception of a wrapper on a mesh with its stack', async () => {
    const broker = connectMemoryBroker();
    const wrapped = withInterceptor(define({ process: () => 'fine' }), { '*': () => causeOfFailure() });
    const server = await serveOnMesh(wrapped, { broker, namespace: 'ns', name: 'T', card: { interval: 10 } });
    const agent = meshAgent({ broker, namespace: 'ns', name: 'T' });
    const result = await agent.send('hi').then(JSON.stringify, (error: Error) => error.message);
    expect(result).not.toContain('secret detail');
    expect(written()).toMatch(/TypeError: secret detail\n\s+at causeOfFailure/);
    await agent.close();
    await server.close();
  });

  it('goes to the log instead, if there is one', async () => {
    const entries: LogEntry[] = [];
    const log = (entry: LogEntry): void => void entries.push(entry);
    await seenByClient(define({}, { log }));
    expect(entries).toMatchObject([{ level: 'error', error: { message: 'secret detail' } }]);
    const wrapped = withInterceptor(define(), { send: async () => causeOfFailure() });
    const served: LogEntry[] = [];
    await seenByClient(wrapped, { log: (entry) => void served.push(entry) });
    expect(served.some(({ error }) => ((error as Error)?.cause as Error)?.message === 'secret detail')).toBe(
      true,
    );
    const errors: A2AError[] = [];
    await seenByClient(wrapped, { onError: (error) => void errors.push(error) });
    expect(errors).toMatchObject([{ cause: { message: 'secret detail' } }]);
    expect(standardError).not.toHaveBeenCalled();
  });

  it('writes an A2AError of an author without a stack, because the client receives it', async () => {
    const agent = define({
      process() {
        throw new A2AError('INVALID_PARAMS', 'Send a number');
      },
    });
    expect(await seenByClient(agent)).toContain('Send a number');
    expect(written()).toMatch(/^error: Process function failed \(task .+\)\nA2AError: Send a number$/);
  });

  it('replaces terminal control characters in the exceptions of authors', async () => {
    await define({
      process() {
        throw new Error('\u001b[2J\u0007 gone');
      },
    }).send('hi');
    expect(written()).toContain('?[2J? gone');
  });
});
