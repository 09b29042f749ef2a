/**
 * What proxies between a mesh and agents over HTTP are known to have got wrong: each fault, and each thing that was put
 * right once, as a test.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { memoryArtifacts } from '../../src/artifacts/memory.ts';
import { withArtifacts } from '../../src/artifacts/with-artifacts.ts';
import { connect } from '../../src/client/connect.ts';
import type { ConnectOptions } from '../../src/client/options.ts';
import { type MeshFaceOptions, showOnMesh } from '../../src/mesh/face.ts';
import { memoryLink } from '../../src/mesh/memory-link.ts';
import { meshSessionOf } from '../../src/mesh/session.ts';
import type { Agent } from '../../src/protocol/agent.ts';
import type { LogEntry } from '../../src/protocol/log.ts';
import { gate } from '../support/conversation.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { ask0_1, ask0_3, MeshCaller, schema0_3 } from '../support/mesh-caller.ts';
import {
  artifact,
  innerContext,
  innerTask,
  type RawScript,
  startRawAgent,
  status,
  task,
  words,
} from '../support/raw-agent.ts';
import { json } from '../support/raw-server.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
  expect(schema0_3.findings).toEqual([]);
});

interface Setup {
  face?: Partial<MeshFaceOptions>;
  connect?: ConnectOptions;
  around?: (agent: Agent) => Agent;
}

/** An agent over HTTP, shown on the mesh as `Proxied`, and somebody who asks. */
async function proxied(script: RawScript, setup: Setup = {}) {
  const log: LogEntry[] = [];
  const link = memoryLink();
  const server = await startRawAgent(script);
  const clock = new ManualClock();
  const agent = connect(server.url, { resumes: 0, retries: 0, ...setup.connect });
  const caller = await MeshCaller.join(link);
  const face = await showOnMesh(setup.around?.(agent) ?? agent, {
    link,
    namespace: 'test_namespace',
    name: 'Proxied',
    clock,
    log: (entry) => log.push(entry),
    ...setup.face,
  });
  ends.push(
    () => link.close(),
    () => agent.close(),
    () => server.close(),
    () => face.close(),
  );
  return { caller, server, log, clock, link, face };
}

/** Everything that was published about a task, as short words. */
function told(caller: MeshCaller, taskId: string): string[] {
  return caller.of(taskId).map(({ place, body }) => {
    if (body.error) return `${place} error ${body.error.code}`;
    const { kind, status: at } = body.result;
    return `${place} ${kind} ${at?.state ?? ''}`.trim();
  });
}

/** Everything that the mesh saw must be in its own names. */
function leaks(caller: MeshCaller): string[] {
  return caller.returned
    .map((each) => JSON.stringify(each.body))
    .filter((text) => text.includes(innerTask) || text.includes(innerContext));
}

describe('a proxy on the mesh does not make the faults that are known', () => {
  for (const state of ['failed', 'canceled', 'rejected', 'input-required', 'auth-required', 'completed']) {
    it(`1: a final update ${state} is reported as ${state}`, async () => {
      const { caller } = await proxied({
        stream: () => [task('submitted'), status(state, 'So it is', true)],
      });
      await caller.say('Proxied', 't-1', ask0_3('t-1', 'go'));
      const { body } = await caller.answer('t-1');
      expect(told(caller, 't-1')).toEqual([`status status-update ${state}`, `response task ${state}`]);
      expect(body.result.status.message.parts).toEqual([{ kind: 'text', text: 'So it is' }]);
      expect(body.result).toMatchObject({
        id: 't-1',
        contextId: 'session-1',
        metadata: { agent_name: 'Proxied' },
      });
      expect(leaks(caller)).toEqual([]);
    });
  }

  for (const state of ['failed', 'canceled', 'rejected']) {
    it(`2: a send that is answered with a ${state} task gets that task`, async () => {
      const { caller } = await proxied({ send: () => task(state, 'No') });
      await caller.say('Proxied', 't-1', ask0_3('t-1', 'go', { method: 'message/send' }), { updates: false });
      await caller.answer('t-1');
      expect(told(caller, 't-1')).toEqual([`response task ${state}`]);
    });
  }

  it('2: a send that needs input is told so by an update and then by the task', async () => {
    const { caller } = await proxied({ send: () => task('input-required', 'Which one?') });
    await caller.say('Proxied', 't-1', ask0_3('t-1', 'go', { method: 'message/send' }));
    const { body } = await caller.answer('t-1');
    expect(told(caller, 't-1')).toEqual([
      'status status-update input-required',
      'response task input-required',
    ]);
    expect(body.result.status.message.parts[0].text).toBe('Which one?');
  });

  it('3: a stream that ends with a final update has one answer and no error', async () => {
    const { caller, face } = await proxied({
      stream: () => [task('submitted'), status('completed', 'Done', true)],
    });
    await caller.say('Proxied', 't-1', ask0_3('t-1', 'go'));
    await caller.answer('t-1');
    await face.close();
    expect(told(caller, 't-1')).toEqual(['status status-update completed', 'response task completed']);
  });

  it('3: a stream that is one message has one answer, a completed task', async () => {
    const { caller, face } = await proxied({ stream: () => [words('Hello')] });
    await caller.say('Proxied', 't-1', ask0_3('t-1', 'go'));
    const { body } = await caller.answer('t-1');
    await face.close();
    expect(told(caller, 't-1')).toEqual(['response task completed']);
    expect(body.result.status.message).toMatchObject({ taskId: 't-1', contextId: 'session-1' });
    expect(leaks(caller)).toEqual([]);
  });

  it('3: an answer that is no stream has one error, which says what came', async () => {
    const { caller, face } = await proxied({
      http: (request, response) => {
        if (request.path !== '/a2a') return false;
        response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
        return true;
      },
    });
    await caller.say('Proxied', 't-1', ask0_3('t-1', 'go'));
    const { body } = await caller.answer('t-1');
    await face.close();
    expect(told(caller, 't-1')).toEqual(['response error -32603']);
    expect(body.error.message).toMatch(/did not return a valid SSE streaming response \(HTTP 200\)/);
    expect(body.error.data).toMatchObject({ taskId: 't-1', agent_name: 'Proxied' });
  });

  it('4: a cancel before the first event ends the task as canceled, and the agent hears of it', async () => {
    const opened = gate();
    const letGo = gate();
    const { caller, server, face } = await proxied({
      open: async (_body, events) => {
        opened.open();
        await letGo.opened;
        events.event(task('submitted'));
      },
    });
    await caller.say('Proxied', 't-1', ask0_3('t-1', 'go'));
    await opened.opened;
    await caller.cancel('Proxied', 't-1');
    const { body, properties } = await caller.answer('t-1');
    expect(body).toMatchObject({
      id: 't-1',
      result: { kind: 'task', id: 't-1', status: { state: 'canceled' } },
    });
    expect(properties).toMatchObject({ userId: 'alice' });
    letGo.open();
    await face.close();
    expect(server.asked('tasks/cancel').map(({ params }) => params.id)).toEqual([innerTask]);
    expect(told(caller, 't-1')).toEqual(['response task canceled']);
  });

  it('5: a cancel is answered under the id of the mesh, once, where the request wanted its answer', async () => {
    const { caller, server, face } = await proxied({
      open: (_body, events) => {
        events.event(task('submitted'));
        events.event(status('working', 'On it'));
      },
    });
    await caller.say('Proxied', 't-1', ask0_3('t-1', 'go'));
    await caller.find(({ place }) => place === 'status');
    await caller.cancel('Proxied', 't-1');
    const { body } = await caller.answer('t-1');
    await face.close();
    expect(body).toMatchObject({
      id: 't-1',
      result: { id: 't-1', contextId: 'session-1', status: { state: 'canceled' } },
    });
    expect(server.asked('tasks/cancel').map(({ params }) => params.id)).toEqual([innerTask]);
    expect(caller.of('t-1', 'response')).toHaveLength(1);
    expect(leaks(caller)).toEqual([]);
  });

  it('6: a request without a context gets one, and keeps it', async () => {
    const { caller, server } = await proxied({
      stream: () => [task('submitted'), status('completed', 'Done', true)],
    });
    await caller.say('Proxied', 't-1', ask0_3('t-1', 'go', { contextId: null }));
    const { contextId } = (await caller.answer('t-1')).body.result;
    expect(contextId).toMatch(/^[0-9a-f-]{36}$/);
    expect(caller.of('t-1').map(({ body }) => body.result.contextId)).toEqual([contextId, contextId]);
    await caller.say('Proxied', 't-2', ask0_3('t-2', 'more', { contextId }));
    expect((await caller.answer('t-2')).body.result.contextId).toBe(contextId);
    const contexts = server.asked('message/stream').map(({ params }) => params.message.contextId);
    expect(contexts).toEqual([undefined, innerContext]);
  });

  it('7: files of the whole stream are listed at its end, those in statuses too, and none travels inline', async () => {
    const file = (name: string) => ({
      kind: 'file',
      file: { name, mimeType: 'text/plain', bytes: 'aGVsbG8=' },
    });
    const withFile = status('completed', 'Done', true);
    withFile.status.message.parts.push(file('c.txt'));
    const store = memoryArtifacts();
    const { caller } = await proxied(
      {
        stream: () => [
          task('submitted'),
          artifact('a', [file('a.txt')], { lastChunk: true }),
          artifact('b', [file('b.txt')], { lastChunk: true }),
          withFile,
        ],
      },
      {
        around: (agent) =>
          withArtifacts(agent, {
            store,
            app: 'Proxied',
            session: (_context, call) => meshSessionOf(call) ?? '',
          }),
      },
    );
    await caller.say('Proxied', 't-1', ask0_3('t-1', 'go'));
    const { body } = await caller.answer('t-1');
    expect(body.error).toBeUndefined();
    const produced = body.result.metadata.produced_artifacts as { filename: string; version: number }[];
    expect(produced.map((each) => each.filename).sort()).toEqual(['a.txt', 'b.txt', 'c.txt']);
    expect(JSON.stringify(caller.returned)).not.toContain('aGVsbG8=');
    const kept = await store.load({ app: 'Proxied', user: 'alice', session: 'session-1', filename: 'c.txt' });
    expect(new TextDecoder().decode(await kept?.bytes())).toBe('hello');
  });

  it('8: a file without a name gets one, and one that would leave its folder loses that', async () => {
    const file = (name?: string) => ({
      kind: 'file',
      file: { name, mimeType: 'text/plain', bytes: 'aGVsbG8=' },
    });
    const { caller } = await proxied(
      {
        stream: () => [
          task('submitted'),
          artifact('a', [file()], { lastChunk: true }),
          artifact('b', [file('../../etc/passwd')], { lastChunk: true }),
          status('completed', 'Done', true),
        ],
      },
      { around: (agent) => withArtifacts(agent, { store: memoryArtifacts(), app: 'Proxied' }) },
    );
    await caller.say('Proxied', 't-1', ask0_3('t-1', 'go'));
    const names = (await caller.answer('t-1')).body.result.metadata.produced_artifacts.map(
      (each: { filename: string }) => each.filename,
    );
    expect(names).toHaveLength(2);
    for (const name of names) {
      expect(name).not.toMatch(/None|undefined|\.\.|[\\/]/);
      expect(name).not.toBe('');
    }
  });

  it('9: a stream to an agent whose card says that it does not stream is a send', async () => {
    const { caller, server } = await proxied({ streaming: false, send: () => task('completed', 'Done') });
    await caller.say('Proxied', 't-1', ask0_3('t-1', 'go'));
    await caller.answer('t-1');
    expect(server.asked().map(({ method }) => method)).toEqual(['message/send']);
    expect(told(caller, 't-1')).toEqual(['response task completed']);
  });

  it('10: what is remembered of tasks has a bound', async () => {
    const { caller } = await proxied(
      { send: () => task('input-required', 'Which one?') },
      { face: { limits: { tasks: 10 } } },
    );
    const ask = (id: string, message: object = {}) =>
      caller.say('Proxied', id, ask0_3(id, 'go', { method: 'message/send', contextId: `c-${id}`, message }));
    for (let i = 0; i < 30; i++) {
      await ask(`t-${i}`);
      await caller.answer(`t-${i}`);
    }
    await ask('get', {});
    await caller.answer('get');
    const get = (id: string) => ({ jsonrpc: '2.0', id: `g-${id}`, method: 'tasks/get', params: { id } });
    await caller.say('Proxied', 'g-0', get('t-0'));
    expect((await caller.answer('g-0')).body.error.code).toBe(-32001);
  });

  for (const code of [307, 308]) {
    it(`11: a redirect ${code} is followed`, async () => {
      const { caller } = await proxied({
        stream: () => [task('submitted'), status('completed', 'Done', true)],
        http: (request, response) => {
          if (request.path !== '/a2a') return false;
          response.writeHead(code, { location: '/moved' }).end();
          return true;
        },
      });
      await caller.say('Proxied', 't-1', ask0_3('t-1', 'go'));
      await caller.answer('t-1');
      expect(told(caller, 't-1')).toEqual(['status status-update completed', 'response task completed']);
    });
  }

  it('11: words can be joined, so that not each travels alone', async () => {
    const tokens = ['The ', 'quick ', 'brown ', 'fox'];
    const { caller } = await proxied(
      {
        stream: () => [
          task('submitted'),
          ...tokens.map((text) => status('working', text)),
          status('completed', 'Done', true),
        ],
      },
      { face: { batch: { milliseconds: 1000, characters: 1000 } } },
    );
    await caller.say('Proxied', 't-1', ask0_3('t-1', 'go'));
    await caller.answer('t-1');
    expect(told(caller, 't-1')).toEqual([
      'status status-update working',
      'status status-update completed',
      'response task completed',
    ]);
    const [joined] = caller.of('t-1', 'status');
    expect(joined?.body.result.status.message.parts).toEqual([
      { kind: 'data', data: { type: 'agent_progress_update', status_text: 'The quick brown fox' } },
    ]);
  });
});

describe('a proxy on the mesh keeps what was put right once', () => {
  it('a new task has no id for the agent, and a follow-up has the one that the agent gave', async () => {
    const { caller, server } = await proxied({
      stream: ({ params }) =>
        params.message.taskId
          ? [task('working'), status('completed', 'Thanks', true)]
          : [task('submitted'), status('input-required', 'Which one?', true)],
    });
    await caller.say('Proxied', 't-1', ask0_3('t-1', 'go', { message: { taskId: 'never-heard-of' } }));
    await caller.answer('t-1');
    await caller.say('Proxied', 't-2', ask0_3('t-2', 'that one', { message: { taskId: 't-1' } }));
    const { body } = await caller.answer('t-2');
    expect(body.result).toMatchObject({ id: 't-2', status: { state: 'completed' } });
    const ids = server.asked('message/stream').map(({ params }) => params.message.taskId);
    expect(ids).toEqual([undefined, innerTask]);
  });

  it('an answer of a gateway, which names no task, reaches the task of its context that waits', async () => {
    const { caller, server } = await proxied({
      stream: ({ params }) =>
        params.message.taskId
          ? [status('completed', 'Thanks', true)]
          : [task('submitted'), status('input-required', 'Which one?', true)],
    });
    await caller.say('Proxied', 't-1', ask0_3('t-1', 'go'));
    await caller.answer('t-1');
    await caller.say('Proxied', 't-2', ask0_3('t-2', 'that one'));
    expect((await caller.answer('t-2')).body.result.status.state).toBe('completed');
    await caller.say('Proxied', 't-3', ask0_3('t-3', 'something else'));
    await caller.answer('t-3');
    const ids = server.asked('message/stream').map(({ params }) => params.message.taskId);
    expect(ids).toEqual([undefined, innerTask, undefined]);
  });

  it('user properties come back with everything, nested ones as they were', async () => {
    const { caller } = await proxied({
      stream: () => [task('submitted'), status('working', 'On it'), status('completed', 'Done', true)],
    });
    const extra = {
      a2aUserConfig: { user_profile: { id: 'alice', roles: ['a', 'b'] } },
      callDepth: 2,
      own: 'x',
    };
    await caller.say('Proxied', 't-1', ask0_3('t-1', 'go'), { properties: extra });
    await caller.answer('t-1');
    expect(caller.returned).toHaveLength(3);
    for (const { properties } of caller.returned) {
      expect(properties).toMatchObject({ ...extra, clientId: 'gateway_1', userId: 'alice' });
      expect(properties.replyTo).toBe('test_namespace/a2a/v1/gateway/response/gateway_1/t-1');
    }
  });

  it('an agent that dies silently is an error and no silence', async () => {
    const { caller } = await proxied({ stream: () => [task('working', 'Processing your request...')] });
    await caller.say('Proxied', 't-1', ask0_3('t-1', 'go'));
    const { body } = await caller.answer('t-1');
    expect(told(caller, 't-1')).toEqual(['response error -32603']);
    expect(body.error.message).toMatch(/^Remote agent 'Proxied' disconnected without completing the task\./);
    expect(body.error.data).toMatchObject({ agent_name: 'Proxied', taskId: 't-1' });
  });

  it('an agent that says nothing at all is an error after the idle time', async () => {
    const opened = gate();
    const { caller, clock } = await proxied(
      { open: () => opened.open() },
      { face: { timeouts: { idle: 3000, total: 0 } } },
    );
    await caller.say('Proxied', 't-1', ask0_3('t-1', 'go'));
    await opened.opened;
    clock.advance(3000);
    const { body } = await caller.answer('t-1');
    expect(body.error).toMatchObject({
      code: -32603,
      message: "Remote agent 'Proxied' sent nothing for 3000 ms",
    });
  });

  it('a task that never ends is an error after the total time, whatever signs of life there are', async () => {
    const { caller, clock } = await proxied(
      {
        open: (_body, events) => {
          events.event(task('submitted'));
          events.event(status('working', 'On it'));
        },
      },
      { face: { timeouts: { idle: 0, total: 5000 } } },
    );
    await caller.say('Proxied', 't-1', ask0_3('t-1', 'go'));
    await caller.find(({ place }) => place === 'status');
    clock.advance(5000);
    const { body } = await caller.answer('t-1');
    expect(body.error.message).toBe("Remote agent 'Proxied' did not end the task within 5000 ms");
  });

  it('text of updates is progress, and stays text where that is wanted', async () => {
    const script = {
      stream: () => [task('submitted'), status('working', 'On it'), status('completed', 'Done', true)],
    };
    const first = async (face: Partial<MeshFaceOptions>) => {
      const { caller } = await proxied(script, { face });
      await caller.say('Proxied', 't-1', ask0_3('t-1', 'go'));
      await caller.answer('t-1');
      return caller.of('t-1', 'status')[0]?.body.result.status.message.parts;
    };
    const data = { type: 'agent_progress_update', status_text: 'On it' };
    expect(await first({})).toEqual([{ kind: 'data', data }]);
    expect(await first({ convertProgress: false })).toEqual([{ kind: 'text', text: 'On it' }]);
  });

  for (const code of [500, 503]) {
    it(`the real status ${code} stands in the error`, async () => {
      const { caller } = await proxied({
        http: (request, response) => {
          if (request.path !== '/a2a') return false;
          json(response, { error: 'no' }, code);
          return true;
        },
      });
      await caller.say('Proxied', 't-1', ask0_3('t-1', 'go'));
      const { body } = await caller.answer('t-1');
      expect(body.error.code).toBe(-32603);
      expect(body.error.message).toContain(`did not return a valid SSE streaming response (HTTP ${code})`);
    });
  }

  it('an error of the agent keeps its code', async () => {
    const { caller } = await proxied({ send: () => ({ error: { code: -32005, message: 'No pictures' } }) });
    await caller.say('Proxied', 't-1', ask0_3('t-1', 'go', { method: 'message/send' }));
    expect((await caller.answer('t-1')).body.error).toMatchObject({ code: -32005, message: 'No pictures' });
  });

  it('a refused credential of the proxy is no mistake of the caller', async () => {
    const { caller } = await proxied({
      http: (request, response) => {
        if (request.path !== '/a2a') return false;
        json(response, { jsonrpc: '2.0', id: 1, error: { code: -32600, message: 'Who are you?' } }, 401);
        return true;
      },
    });
    await caller.say('Proxied', 't-1', ask0_3('t-1', 'go', { method: 'message/send' }));
    const { error } = (await caller.answer('t-1')).body;
    expect(error.code).toBe(-32603);
    expect(error.message).toContain('401');
  });

  it('a send keeps its configuration', async () => {
    const { caller, server } = await proxied({ send: () => task('completed', 'Done') });
    const configuration = { acceptedOutputModes: ['image/png'], historyLength: 3 };
    await caller.say(
      'Proxied',
      't-1',
      ask0_3('t-1', 'go', { method: 'message/send', params: { configuration, metadata: { a: 1 } } }),
    );
    await caller.answer('t-1');
    const [{ params }] = server.asked('message/send');
    expect(params.configuration).toEqual({ ...configuration, blocking: true });
    expect(params.metadata).toEqual({ a: 1 });
  });

  it('a run without a past has no context for the agent, in either way of asking', async () => {
    const { caller, server } = await proxied({
      stream: () => [task('submitted'), status('completed', 'Done', true)],
    });
    const message = { metadata: { sessionBehavior: 'RUN_BASED', parentTaskId: 'p' } };
    for (const method of ['message/send', 'message/stream']) {
      await caller.say('Proxied', method.slice(8), ask0_3(method.slice(8), 'go', { method, message }));
      expect((await caller.answer(method.slice(8))).body.result.contextId).toBe('session-1');
    }
    expect(server.asked().map(({ params }) => params.message.contextId)).toEqual([undefined, undefined]);
  });

  it('a request that comes again is not worked on again, and gets its answer again', async () => {
    const { caller, server } = await proxied({ send: () => task('completed', 'Done') });
    const request = ask0_3('t-1', 'go', { method: 'message/send' });
    await caller.say('Proxied', 't-1', request);
    await caller.answer('t-1');
    // Whoever comes while the first is at work shares its answer; this one comes later.
    await caller.say('Proxied', 't-2', ask0_3('t-2', 'go', { method: 'message/send' }));
    await caller.answer('t-2');
    await caller.say('Proxied', 't-1', request);
    await caller.say('Proxied', 't-3', ask0_3('t-3', 'go', { method: 'message/send' }));
    await caller.answer('t-3');
    const [first, second] = caller.of('t-1', 'response');
    expect(second?.body).toEqual(first?.body);
    expect(server.asked('message/send')).toHaveLength(3);
  });

  it('callers of 0.1 are answered in 0.1: by type, with a session, under the ids that they made', async () => {
    const { caller, server } = await proxied({
      stream: () => [task('submitted'), status('working', 'On it'), status('rejected', 'No', true)],
    });
    const request: any = ask0_1('t-1', 'go', { params: { metadata: { system_purpose: 'test' } } });
    await caller.say('Proxied', 't-1', request);
    const { body } = await caller.answer('t-1');
    expect(body.id).toBe(request.id);
    expect(body.result).toMatchObject({ id: 't-1', sessionId: 'session-1', status: { state: 'failed' } });
    expect(body.result.status.message.parts).toEqual([{ type: 'text', text: 'No' }]);
    const [working, last] = caller.of('t-1', 'status').map((each) => each.body.result);
    expect(working).toMatchObject({ id: 't-1', final: false, metadata: { agent_name: 'Proxied' } });
    expect(working.status.message.parts[0]).toMatchObject({ type: 'data' });
    expect(last.final).toBe(true);
    expect(JSON.stringify(caller.returned)).not.toContain('"kind"');
    const [{ params }] = server.asked('message/stream');
    expect(params.message).toMatchObject({ contextId: 'session-1', metadata: { system_purpose: 'test' } });
    expect(params.message.taskId).toBeUndefined();
    expect(leaks(caller)).toEqual([]);
  });
});
