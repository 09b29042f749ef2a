/** Python's grpcio, with stubs of the specification, as the client of our server and as the server of our client. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bearer, type ClientWarning, connect, type ConnectOptions } from '../../../src/client/index.ts';
import { reduce } from '../../../src/protocol/reduce.ts';
import type { Task } from '../../../src/protocol/task.ts';
import { bearerAuth } from '../../../src/server/auth/schemes/bearer.ts';
import { serve } from '../../../src/server/node/serve.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';
import { collectStream } from '../../support/collect-stream.ts';
import { makePythonStubs } from '../../support/grpc/python-stubs.ts';
import { sampleAgent } from '../sample-agent.ts';

const stubs = makePythonStubs();
if (typeof stubs === 'string') console.log(`skipped: tests with Python's grpcio, because ${stubs}`);
const { python, folder } = typeof stubs === 'string' ? { python: '', folder: '' } : stubs;
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const open = closeAfterEach();

function runPython(script: string, ...args: string[]): ChildProcess & { readonly stdout: Readable } {
  const path = fileURLToPath(new URL(script, import.meta.url));
  return spawn(python, [path, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1' },
  });
}

const versions = ['1.0', '0.3'] as const;
const error = (code: string, reason: string) => ({
  code,
  details: [{ reason, domain: 'a2a-protocol.org' }],
});

describe.skipIf(typeof stubs === 'string')('client of grpcio', () => {
  describe.each(versions)('with %s', (version) => {
    const canceled = version === '1.0' ? 'TASK_STATE_CANCELED' : 'TASK_STATE_CANCELLED';
    /** What the script printed. */
    let result: { readonly [call: string]: any };

    beforeAll(async () => {
      const server = await serve(sampleAgent());
      const tokens = { secret: 'tom' };
      const guarded = await serve(sampleAgent(), { auth: { authenticators: [bearerAuth({ tokens })] } });
      try {
        const addresses = [server, guarded].map(({ port }) => `127.0.0.1:${port}`);
        const child = runPython('grpc-client.py', version, ...addresses, 'secret');
        result = JSON.parse(await text(child.stdout)) as typeof result;
      } finally {
        await server.stop(0);
        await guarded.stop(0);
      }
    });

    it('sends a message, bytes in a compressed request, and reads the task', () => {
      expect(result.send.task).toMatchObject({
        status: { state: 'TASK_STATE_COMPLETED', timestamp: expect.stringMatching(/^20.*Z$/) as string },
        artifacts: [{ artifactId: 'answer', name: 'answer', parts: [{ text: 'Grüße 🌍' }] }],
        history: [{ messageId: 'm-1', role: 'ROLE_USER' }],
      });
      expect(result.get).toEqual(result.send.task);
      expect(result.fileIsSame).toBe(true);
    });

    it('receives a stream', () => {
      const events: any[] = result.stream;
      expect(events[0].task.status.state).toBe('TASK_STATE_SUBMITTED');
      const updates = events.flatMap(({ artifactUpdate }) => artifactUpdate ?? []);
      expect(updates.map(({ artifact }) => artifact.parts[0].text)).toEqual(['0', '1', '2', '3', '4']);
      expect(updates.map(({ append }) => append ?? false)).toEqual([false, true, true, true, true]);
      expect(updates.at(-1)).toMatchObject({ lastChunk: true });
      expect(events.at(-1).statusUpdate).toMatchObject({
        status: { state: 'TASK_STATE_COMPLETED' },
        ...(version === '0.3' && { final: true }),
      });
    });

    it('subscribes to a task and cancels it', () => {
      const { running } = result;
      const { id } = running.canceled;
      expect(running.snapshot.task).toMatchObject({ id, status: { state: 'TASK_STATE_WORKING' } });
      expect(running.canceled.status.state).toBe(canceled);
      for (const events of [running.sender, running.subscriber])
        expect(events.at(-1).statusUpdate).toMatchObject({ taskId: id, status: { state: canceled } });
    });

    it('creates, reads, lists and deletes a push configuration', () => {
      const { push, canceled: task } = result.running;
      const url = 'https://hooks.example.com/';
      // The server returns no secrets.
      const config =
        version === '1.0'
          ? { taskId: task.id, id: 'p', url, authentication: { scheme: 'Bearer' } }
          : {
              name: `tasks/${task.id}/pushNotificationConfigs/p`,
              pushNotificationConfig: { id: 'p', url, authentication: { schemes: ['Bearer'] } },
            };
      expect(push).toEqual([config, config, { configs: [config] }, {}]);
    });

    it.runIf(version === '1.0')('lists tasks page by page', () => {
      const [first, second] = result.list;
      expect(first).toMatchObject({ pageSize: 2, totalSize: 3 });
      expect(second.nextPageToken).toBeUndefined();
      const tasks: any[] = [...first.tasks, ...second.tasks];
      expect(new Set(tasks.map(({ id }) => id)).size).toBe(3);
      expect(tasks.map(({ history, artifacts }) => history ?? artifacts)).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
    });

    it('reads the extended card', () => {
      const interfaces =
        version === '1.0'
          ? {
              supportedInterfaces: expect.arrayContaining([
                expect.objectContaining({ protocolBinding: 'GRPC' }),
              ]),
            }
          : {
              additionalInterfaces: expect.arrayContaining([expect.objectContaining({ transport: 'GRPC' })]),
            };
      expect(result.card).toMatchObject({ name: 'Sample extended', version: '1.2.3', ...interfaces });
    });

    it('decodes the details of errors', () => {
      expect(result.notFound).toMatchObject({
        code: 'NOT_FOUND',
        statusCode: 5,
        details: [{ ...error('', 'TASK_NOT_FOUND').details[0], metadata: { taskId: 'nothing' } }],
      });
      expect(result.notFound.statusMessage).toBe(result.notFound.message);
      expect(result.noSubscription).toMatchObject(error('NOT_FOUND', 'TASK_NOT_FOUND'));
      expect(result.notCancelable).toMatchObject(error('FAILED_PRECONDITION', 'TASK_NOT_CANCELABLE'));
      expect(result.invalid).toMatchObject({
        code: 'INVALID_ARGUMENT',
        details: [{ reason: 'INVALID_PARAMS' }, { fieldViolations: [{ field: 'message' }] }],
      });
    });

    it('is ended by its deadline', () => {
      expect(result.deadline).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
      expect(result.streamDeadline).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    });

    it('sends a token in its metadata', () => {
      expect(result.unauthenticated).toMatchObject(error('UNAUTHENTICATED', 'UNAUTHENTICATED'));
      expect(result.authorized.task.status.state).toBe('TASK_STATE_COMPLETED');
    });

    it('checks the health of the server and reads its descriptors', () => {
      expect(result.health).toEqual({ status: 'SERVING' });
      expect(result.reflection).toMatchObject({ missing: [], additional: [] });
      expect(result.reflection.services).toEqual(
        expect.arrayContaining(['a2a.v1.A2AService', 'grpc.health.v1.Health', 'lf.a2a.v1.A2AService']),
      );
    });
  });
});

describe.skipIf(typeof stubs === 'string').each(versions)('server of grpcio with %s', (version) => {
  let server: ReturnType<typeof runPython>;
  let address: string;
  const warnings: ClientWarning[] = [];

  beforeAll(async () => {
    server = runPython('grpc-server.py', version);
    const [port] = (await once(createInterface(server.stdout), 'line')) as [string];
    address = `grpc://127.0.0.1:${port}`;
  });
  afterAll(async () => {
    const exit = once(server, 'exit');
    server.stdin?.end();
    expect(await exit).toEqual([0, null]);
  });

  function connectTo(options: ConnectOptions = {}) {
    warnings.length = 0;
    const agent = connect(address, {
      versions: [version],
      maxRetries: 0,
      onWarning: (warning) => warnings.push(warning),
      ...options,
    });
    open.push({ close: () => agent.close() });
    return agent;
  }

  it('receives messages and metadata, and returns tasks', async () => {
    const agent = connectTo({ auth: bearer('secret'), headers: { 'x-more': 'yes' } });
    const raw = Buffer.from(Array.from({ length: 300_000 }, (_, i) => i % 251)).toString('base64');
    const parts = [
      { text: 'Grüße 🌍' },
      { data: { list: [1, null, { x: 'y' }] } },
      { raw, filename: 'f.bin', mediaType: 'application/octet-stream' },
      { url: 'https://files.example.com/f', mediaType: 'text/plain' },
    ];
    const task = (await agent.send({ message: { messageId: 'm', role: 'user', parts } })) as Task;
    expect(task).toMatchObject({
      id: 't-m',
      contextId: 'c',
      status: { state: 'completed', timestamp: '2026-01-02T03:04:05.678Z' },
      artifacts: [{ artifactId: 'a', name: 'answer', parts }],
      metadata: {
        received: {
          authorization: 'Bearer secret',
          'x-more': 'yes',
          ...(version === '1.0' && { 'a2a-version': '1.0' }),
        },
        list: [1, null, { x: true }],
      },
    });
    expect(await agent.getTask({ id: task.id })).toEqual(task);
    expect(warnings).toEqual([]);
  });

  it('sends a stream', async () => {
    const agent = connectTo();
    const events = await collectStream(agent.stream('stream'));
    expect(events).toHaveLength(5);
    expect(reduce(events)).toMatchObject({
      id: 's',
      status: { state: 'completed' },
      artifacts: [{ parts: [{ text: '012' }] }],
    });
  });

  it('refuses calls with details', async () => {
    const agent = connectTo();
    await expect(agent.getTask({ id: 'nothing' })).rejects.toMatchObject({
      reason: 'TASK_NOT_FOUND',
      message: 'Task not found: nothing',
      details: { taskId: 'nothing' },
    });
    await expect(agent.send('refuse')).rejects.toMatchObject({
      reason: 'INVALID_PARAMS',
      message: 'Ungültig: 100 %',
      violations: [{ field: 'message.parts', description: 'bad' }],
    });
    await expect(collectStream(agent.stream('break'))).rejects.toMatchObject({
      reason: 'UNSUPPORTED_OPERATION',
      message: 'Not this one',
    });
  });

  it('compresses its messages', async () => {
    const parts = [{ text: 'compress' }, { text: 'x'.repeat(10_000) }];
    const sending = connectTo().send({ message: { messageId: 'm', role: 'user', parts } });
    await expect(sending).resolves.toMatchObject({ id: 't-m', status: { state: 'completed' } });
  });

  it('fails without details', async () => {
    const agent = connectTo();
    await expect(agent.send('crash')).rejects.toMatchObject({ reason: 'INTERNAL_ERROR' });
    // grpcio has the methods of the stubs that the server does not override.
    await expect(agent.cancelTask({ id: 't-m' })).rejects.toMatchObject({ reason: 'UNSUPPORTED_OPERATION' });
  });
});
