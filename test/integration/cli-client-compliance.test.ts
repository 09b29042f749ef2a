import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineAgent } from '../../src/engine/local-agent.ts';
import type { SendRequest } from '../../src/protocol/requests.ts';
import { apiKey } from '../../src/server/auth/api-key.ts';
import { bearer } from '../../src/server/auth/bearer.ts';
import { type NodeOptions, serve } from '../../src/server/node.ts';
import { signCard } from '../../src/signing/sign.ts';
import { authority, hasOpenssl } from '../support/certificates.ts';
import { cardAt, demo, Person, type Script, scripted, wireTask } from '../support/client-command.ts';
import { type Ended, root, type Running } from '../support/command.ts';
import { json, type RawServer, startRaw } from '../support/raw-server.ts';
import { makePair } from '../support/signed-card.ts';

const person = new Person();
let agent: Running & { url: string };
let plain: Running & { url: string };
const open: (() => unknown)[] = [];

beforeAll(async () => {
  [agent, plain] = await Promise.all([demo(person), demo(person, ['--no-streaming'])]);
});
afterAll(async () => {
  for (const close of open) await close();
  await Promise.all([agent.stop('SIGKILL'), plain.stop('SIGKILL')]);
  person.leave();
});

type Options = Parameters<Person['run']>[1];
const run = (words: string, options?: Options): Promise<Ended> => person.run(wordsOf(words), options);
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');

/** Runs a command that has to end well, and gives its fields. */
async function fields(
  words: string,
  options?: Options,
): Promise<{ [label: string]: string } & { text: string }> {
  const { code, stdout, stderr } = await run(words, options);
  expect(code, stderr).toBe(0);
  const read: { [label: string]: string } = {};
  for (const [, label = '', value = ''] of stdout.matchAll(/^(\w[\w ]*): (.*)$/gm)) read[label] ??= value;
  return { ...read, text: stdout };
}

/** Runs a command that prints one JSON document. */
async function document(words: string, exitCode = 0, options?: Options): Promise<any> {
  const { code, stdout, stderr } = await run(`${words} -o json`, options);
  expect(code, stderr).toBe(exitCode);
  return JSON.parse(stdout);
}

/** Runs a command that prints lines of JSON. */
async function lines(words: string, exitCode = 0): Promise<any[]> {
  const { code, stdout, stderr } = await run(`${words} -o json --stream`);
  expect(code, stderr).toBe(exitCode);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

async function raw(script: Script): Promise<RawServer> {
  const server = await scripted(script);
  open.push(() => server.close());
  return server;
}

/** An agent in this process, which remembers what it was asked. */
async function recording(options: NodeOptions = {}) {
  const heard: { request: SendRequest; headers: any }[] = [];
  const inner = defineAgent({
    name: 'Recorder',
    description: 'Remembers',
    process: ({ text }) => `heard ${text}`,
  });
  const wrapped = {
    ...Object.fromEntries(Object.entries(inner)),
    ...(Object.fromEntries(
      ['card', 'extendedCard', 'getTask', 'listTasks', 'cancelTask', 'subscribe', 'close', 'ready'].map(
        (name) => [name, (...given: unknown[]) => (inner as any)[name](...given)],
      ),
    ) as any),
    send: (request: SendRequest, call: any) => (
      heard.push({ request, headers: call?.headers }), inner.send(request, call)
    ),
    stream: (request: SendRequest, call: any) => (
      heard.push({ request, headers: call?.headers }), inner.stream(request, call)
    ),
  };
  const server = await serve(wrapped, options);
  open.push(() => server.stop(100));
  return { url: server.url, heard };
}

/** An authorization server that agrees at the second question. */
async function authorizationServer(): Promise<RawServer> {
  let asked = 0;
  const server = await startRaw((request, response, url) => {
    const form = new URLSearchParams(request.text);
    if (request.path === '/openid')
      json(response, { token_endpoint: `${url}/token`, device_authorization_endpoint: `${url}/device` });
    else if (request.path === '/device')
      json(response, {
        device_code: 'dc',
        user_code: 'ABCD',
        verification_uri: `${url}/agree`,
        interval: 0,
        expires_in: 60,
      });
    else if (form.get('grant_type')?.endsWith('device_code') && asked++ === 0)
      json(response, { error: 'authorization_pending' }, 400);
    else if (form.get('grant_type') === 'client_credentials' && !request.headers.authorization)
      json(response, { error: 'invalid_client' }, 401);
    else json(response, { access_token: 'oauth-token-1', refresh_token: 'r1', expires_in: 3600 });
  });
  open.push(() => server.close());
  return server;
}

/** An agent that lets in who has a token of that server. */
async function oauthAgent(scheme: object): Promise<RawServer> {
  return raw({
    card: {
      securitySchemes: { login: scheme },
      securityRequirements: [{ schemes: { login: { list: ['a'] } } }],
    },
    on: {
      SendMessage: (_params, { headers }) =>
        headers.authorization === 'Bearer oauth-token-1'
          ? { task: wireTask('COMPLETED') }
          : {
              error: {
                code: -32600,
                message: 'who?',
                data: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'UNAUTHENTICATED' }],
              },
            },
    },
  });
}

type Status = 'pass' | 'partial' | 'fail' | 'na';
interface Row {
  id: string;
  tier: 1 | 2 | 3;
  /** What it is about, in our words. */
  about: string;
  status: Status;
  note: string;
  check?: () => Promise<void>;
}
const rows: Row[] = [];
let tier: Row['tier'] = 1;
function row(id: string, about: string, check: () => Promise<void>, partly?: string): void {
  rows.push({
    id,
    tier,
    about,
    check,
    status: partly === undefined ? 'pass' : 'partial',
    note: partly ?? '',
  });
}
function without(id: string, about: string, status: 'fail' | 'na', note: string): void {
  rows.push({ id, tier, about, status, note });
}

row('CARD_GET_001', 'cards by host, URL and file, and a transport out of them', async () => {
  const { url } = agent;
  const card = await document(`card get -a ${url}`);
  writeFileSync(join(person.home, 'saved-card.json'), JSON.stringify(card));
  for (const ref of [
    url.replace('http://', ''),
    `${url}/.well-known/agent-card.json`,
    'saved-card.json',
    `file://${person.home}/saved-card.json`,
  ]) {
    const shown = await fields(`card get -a ${ref}`);
    expect(shown.Name).toBe('Demo');
    expect(shown.Selected).toMatch(/^JSONRPC 1\.0 http/);
  }
  expect((await fields('send -a saved-card.json hi')).State).toBe('TASK_STATE_COMPLETED');
});
row('SEND_001', 'a message begins an interaction', async () => {
  const shown = await fields(`send -a ${agent.url} 'hi there'`);
  expect(shown.text).toContain('Text:\n  You said: hi there\n\n');
});
row('SEND_002', 'waits unless told not to', async () => {
  for (const { url } of [agent, plain]) {
    expect((await fields(`send -a ${url} 'slow 1' --poll-interval 100ms`)).State).toBe(
      'TASK_STATE_COMPLETED',
    );
    for (const flag of ['--async', '--return-immediately', '--no-wait'])
      expect((await fields(`send -a ${url} 'slow 5' ${flag}`)).State).toMatch(/SUBMITTED|WORKING/);
  }
});
row('SEND_003', 'streams where it can, ends where it cannot, takes a bare message', async () => {
  const events = await lines(`send -a ${agent.url} 'slow 0.1'`);
  expect(events[0]).toHaveProperty('task');
  expect(events.filter((each) => each.artifactUpdate)).toHaveLength(5);
  expect(JSON.stringify((await lines(`send -a ${plain.url} 'slow 0.1'`)).at(-1))).toContain(
    'TASK_STATE_COMPLETED',
  );
  expect(await lines(`send -a ${agent.url} hello`)).toMatchObject([{ message: { role: 'ROLE_AGENT' } }]);
});
row('SEND_004', 'shows text, data and files', async () => {
  expect((await fields(`send -a ${agent.url} 'data x'`)).text).toContain('Data:\n  {\n    "heard": "x"');
  expect((await fields(`send -a ${agent.url} 'file x'`)).File).toBe('table.csv (text/csv, 15 bytes)');
  expect((await fields(`send -a ${agent.url} hi`)).text).toMatch(/^Text:\n {2}You said: hi\n\n/m);
});
row('SEND_005', 'media types are told, and guessed only where they are not', async () => {
  const { url, heard } = await recording();
  for (const name of ['a.bin', 'b.csv']) writeFileSync(join(person.home, name), name);
  await fields(
    `send -a ${url} --file a.bin --media-type application/pdf --file b.csv --text t --media-type text/markdown`,
  );
  expect(heard[0]?.request.message.parts.map(({ mediaType }) => mediaType)).toEqual([
    'application/pdf',
    'text/csv',
    'text/markdown',
  ]);
  expect((await run(`send -a ${url} --media-type text/plain x`)).code).toBe(2);
});
row('SEND_006', 'parts keep their order; one may come from standard input', async () => {
  const { url, heard } = await recording();
  writeFileSync(join(person.home, 'c.txt'), 'c');
  await fields(
    `send -a ${url} --text one --data - --file c.txt --file https://files.example.com/x.pdf --text two`,
    { input: '{"k":[1]}' },
  );
  expect(heard[0]?.request.message.parts).toEqual([
    { text: 'one' },
    { data: { k: [1] }, mediaType: 'application/json' },
    { raw: 'Yw==', filename: 'c.txt', mediaType: 'text/plain' },
    { url: 'https://files.example.com/x.pdf', filename: 'x.pdf', mediaType: 'application/pdf' },
    { text: 'two' },
  ]);
});
row('TASK_GET_001', 'a task by its name, with what it made and what was said', async () => {
  const { task } = await document(`send -a ${agent.url} 'file y'`);
  const shown = await fields(`task get ${task.id} --history 2 -a ${agent.url}`);
  expect(shown).toMatchObject({
    'Task ID': task.id,
    'Context ID': task.contextId,
    State: 'TASK_STATE_COMPLETED',
  });
  expect(shown.text).toMatch(/File: table\.csv[^]*History: user\nText:\n {2}file y/);
  expect(
    (await document(`task get ${task.id} --history 2 -a ${agent.url}`)).artifacts[0].parts[0].filename,
  ).toBe('table.csv');
});
row('TASK_CANCEL_001', 'ends a task, and may be said twice', async () => {
  const { task } = await document(`send -a ${agent.url} 'slow 60' --async`);
  for (let time = 0; time < 2; time++)
    expect((await fields(`task cancel ${task.id} -a ${agent.url}`)).State).toBe('TASK_STATE_CANCELED');
});
row('INTERACT_001', 'stays in a context', async () => {
  const first = await document(`send -a ${agent.url} one`);
  const second = await document(`send -a ${agent.url} two --context-id ${first.task.contextId}`);
  expect(second.task.contextId).toBe(first.task.contextId);
  expect(second.task.id).not.toBe(first.task.id);
});
row('INTERACT_002', 'goes on with a task, and never begins another instead', async () => {
  const { task } = await document(`send -a ${agent.url} ask`);
  const wrong = await document(`send -a ${agent.url} green --task-id ${task.id} --context-id other`, 1);
  expect(wrong.error.hint).toContain('--debug');
  const done = await document(`send -a ${agent.url} green --task-id ${task.id}`);
  expect(done.task).toMatchObject({ id: task.id, status: { state: 'TASK_STATE_COMPLETED' } });
  const unknown = await document(`send -a ${agent.url} green --task-id nobody`, 1);
  expect(unknown.error).toMatchObject({ code: 'TaskNotFoundError', a2aCode: -32001 });
  expect(unknown.error.hint).toContain('--debug');
});
row('INTERACT_003', 'makes no names that are the agent’s to make', async () => {
  const { url, heard } = await recording();
  await fields(`send -a ${url} hi`);
  expect(heard[0]?.request.message).not.toHaveProperty('taskId');
  expect(heard[0]?.request.message).not.toHaveProperty('contextId');
});
row('INTERACT_004', 'tells the names, and the command to go on with', async () => {
  const shown = await fields(`send -a ${agent.url} ask`);
  expect(shown.State).toBe('TASK_STATE_INPUT_REQUIRED');
  expect(shown.Resume).toBe(`dragoman send --task-id ${shown['Task ID']} "<reply>" -a ${agent.url}`);
  expect((await fields(shown.Resume!.slice('dragoman '.length).replace('"<reply>"', 'red'))).text).toContain(
    'Your colour is red.',
  );
});
row('INTERACT_005', 'remembers nothing', async () => {
  const other = new Person();
  const { code } = await other.run(['send', '-a', agent.url, 'ask']);
  expect(code).toBe(0);
  expect(readdirSync(other.home)).toEqual([]);
  expect((await other.run(['send', '-a', agent.url, 'x', '--continue'])).code).toBe(2);
  other.leave();
});
row('TASK_POLL_001', 'looks once, or until there is an end', async () => {
  const { task } = await document(`send -a ${agent.url} 'slow 2' --async`);
  expect((await document(`task get ${task.id} -a ${agent.url}`)).status.state).toMatch(/SUBMITTED|WORKING/);
  expect(
    (await document(`task get ${task.id} --wait --poll-interval 200ms -a ${agent.url}`)).status.state,
  ).toBe('TASK_STATE_COMPLETED');
});
row('TASK_POLL_002', 'keeps to interval and time, and can be interrupted', async () => {
  const never = await raw({
    on: { SendMessage: () => ({ task: wireTask('WORKING') }), GetTask: () => wireTask('WORKING') },
  });
  const { error } = await document(`send -a ${never.url} hi --poll-interval 200ms --timeout 1s`, 5);
  expect(error).toMatchObject({ code: 'A2ACLI_ERR_TIMEOUT', a2aCode: null });
  expect(error.hint).toContain('task get task-1 --wait');
  expect(never.requests.filter((each) => each.json?.method === 'GetTask').length).toBeLessThan(6);
  const waiting = person.start(wordsOf(`send -a ${never.url} hi --poll-interval 200ms`));
  await waiting.prints(/Waiting: task task-1/, 'stderr');
  const { code, stderr } = await waiting.stop('SIGINT');
  expect(code).toBe(130);
  expect(stderr).toContain('Task ID: task-1\nResume: dragoman task get task-1 --wait');
});
row('TASK_POLL_003', 'stops where the caller has to act, and goes on where nothing is known', async () => {
  expect((await fields(`send -a ${plain.url} ask --poll-interval 100ms`)).State).toBe(
    'TASK_STATE_INPUT_REQUIRED',
  );
  expect((await fields(`send -a ${plain.url} auth --poll-interval 100ms`)).State).toBe(
    'TASK_STATE_AUTH_REQUIRED',
  );
  const states = ['UNSPECIFIED', 'UNSPECIFIED', 'COMPLETED'];
  const odd = await raw({
    on: {
      SendMessage: () => ({ task: wireTask('UNSPECIFIED') }),
      GetTask: () => wireTask(states.shift() ?? 'COMPLETED'),
    },
  });
  expect((await fields(`task get task-1 -a ${odd.url}`)).State).toBe('TASK_STATE_UNSPECIFIED');
  expect((await fields(`send -a ${odd.url} hi --poll-interval 50ms`)).State).toBe('TASK_STATE_COMPLETED');
});
row('TASK_POLL_004', 'asks for the task where its stream breaks', async () => {
  const broken = await raw({
    card: { capabilities: { streaming: true } },
    stream: (_params, events) => {
      events.event({ task: wireTask('WORKING') });
      events.cut();
    },
    on: { GetTask: () => wireTask('COMPLETED') },
  });
  expect((await fields(`send -a ${broken.url} hi --poll-interval 50ms`)).State).toBe('TASK_STATE_COMPLETED');
});
row('OUT_001', 'names context, task and state in every form; the rest is on standard error', async () => {
  for (const form of ['', ' --stream', ' --verbose']) {
    const { stdout, stderr } = await run(`send -a ${agent.url} fail${form}`);
    expect(stdout.slice(-400)).toMatch(/Task ID: \S+\nContext ID: \S+\nState: TASK_STATE_FAILED/);
    expect(stderr).toContain('Warning: the task ended as TASK_STATE_FAILED');
    expect(stdout).not.toContain('Warning');
  }
  expect((await document(`send -a ${agent.url} fail`)).task).toMatchObject({
    status: { state: 'TASK_STATE_FAILED' },
  });
});
row('OUT_002', 'one JSON document, and only the end of the story', async () => {
  const { task } = await document(`send -a ${agent.url} 'slow 0.1'`, 0, { env: { A2ACLI_STREAM: 'true' } });
  expect(task.status.state).toBe('TASK_STATE_COMPLETED');
  expect(task.artifacts[0].parts.map((each: any) => each.text).join('')).toContain('Line 5 of 5');
});
row('OUT_003', 'lines of JSON, the last of which is the end or the error', async () => {
  expect((await lines(`send -a ${agent.url} 'slow 0.1'`)).at(-1)).toMatchObject({
    statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } },
  });
  expect((await lines('send -a http://127.0.0.1:9 hi', 3)).at(-1).error.code).toBe('A2ACLI_ERR_UNREACHABLE');
});
row('OUT_004', 'errors for programs, the same over every transport', async () => {
  for (const transport of ['JSONRPC', 'HTTP+JSON']) {
    const { error } = await document(`task get nobody -a ${agent.url} --transport ${transport}`, 1);
    expect(error).toMatchObject({ code: 'TaskNotFoundError', message: 'Task not found' });
    expect(Object.keys(error)).toEqual(['code', 'message', 'hint', 'a2aCode']);
  }
  expect((await document('send hi', 2)).error.code).toBe('A2ACLI_ERR_USAGE');
  expect((await document(`send -a ${agent.url} hi --nonsense`, 2)).error.code).toBe('A2ACLI_ERR_USAGE');
});
row('OUT_005', 'fields and closed blocks, and nothing that moves a cursor', async () => {
  const hostile = await raw({
    on: {
      SendMessage: () => ({
        task: wireTask('COMPLETED', {
          artifacts: [
            {
              artifactId: 'a',
              name: 'x\nState: y\u001b[2J',
              parts: [{ text: 'a\n\nState: fake\u001b]0;t\u0007' }],
            },
          ],
        }),
      }),
    },
  });
  const { text } = await fields(`send -a ${hostile.url} hi`, { env: { FORCE_COLOR: '1', NO_COLOR: '' } });
  // oxlint-disable-next-line no-control-regex -- these are what is looked for
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  expect(text).toContain('Text:\n  a\n  \n  State: fake');
  expect(text.match(/^State: /gm)).toHaveLength(1);
  const { code, stdout } = await run(`chat -a ${agent.url}`, { input: 'hi\n' });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Event: task\n[^]*You said: hi/);
});
row('OUT_006', 'names the task where nobody waits', async () => {
  expect((await document(`send -a ${agent.url} 'slow 5' --async`)).task).toMatchObject({
    id: expect.any(String),
    contextId: expect.any(String),
  });
});
row('EXIT_001', 'exit codes 0 to 5 that agree with the error', async () => {
  expect((await document('card get -a no-such-file.json', 3)).error.code).toBe('A2ACLI_ERR_CARD_NOT_FOUND');
  expect((await document(`card get -a ${agent.url}/healthz/none.json`, 3)).error.code).toBe(
    'A2ACLI_ERR_CARD_NOT_FOUND',
  );
  writeFileSync(join(person.home, 'bad-card.json'), '[]');
  expect((await document('card get -a bad-card.json', 1)).error.code).toBe('A2ACLI_ERR_CARD_INVALID');
  expect((await document('send -a http://127.0.0.1:9 hi', 3)).error.code).toBe('A2ACLI_ERR_UNREACHABLE');
  expect((await document(`send -a ${agent.url}`, 2)).error.code).toBe('A2ACLI_ERR_USAGE');
});
row('EXIT_002', 'what becomes of the task is no matter of the exit code', async () => {
  for (const word of ['fail', 'reject', 'ask', 'auth']) {
    const { code, stderr } = await run(`send -a ${agent.url} ${word}`);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^Warning: .*TASK_STATE_/m);
  }
});
row('AUTH_001', 'bearer tokens and keys go where the card says', async () => {
  const token = await recording({ auth: { any: [bearer({ tokens: { 't0ken-1': 'alice' } })] } });
  expect((await document(`send -a ${token.url} hi`, 4)).error).toMatchObject({
    code: 'A2ACLI_ERR_CREDENTIALS_MISSING',
    hint: expect.stringContaining('A2ACLI_BEARER'),
  });
  expect((await document(`send -a ${token.url} hi --bearer wr0ng`, 4)).error.code).toBe(
    'A2ACLI_ERR_AUTH_FAILED',
  );
  expect((await fields(`send -a ${token.url} hi --bearer t0ken-1`)).State).toBe('TASK_STATE_COMPLETED');
  for (const place of ['header', 'query', 'cookie'] as const) {
    const keyed = await recording({
      auth: { any: [apiKey({ in: place, name: 'X-Key', keys: { 'k3y-1': 'alice' } })] },
    });
    for (const transport of ['JSONRPC', 'HTTP+JSON'])
      expect(
        (
          await fields(`send -a ${keyed.url} hi --transport ${transport}`, {
            env: { A2ACLI_API_KEY: 'k3y-1' },
          })
        ).State,
      ).toBe('TASK_STATE_COMPLETED');
  }
  const { url, heard } = await recording();
  await fields(`send -a ${url} hi --svc-param x-trace-id:abc123`);
  expect(heard[0]?.headers['x-trace-id']).toBe('abc123');
});
row('AUTH_002', 'secrets may come from the environment; the help says why they should', async () => {
  const token = await recording({ auth: { any: [bearer({ tokens: { 't0ken-2': 'alice' } })] } });
  const env = { A2ACLI_BEARER: 't0ken-2' };
  expect((await fields(`send -a ${token.url} hi`, { env })).State).toBe('TASK_STATE_COMPLETED');
  expect((await document(`send -a ${token.url} hi --bearer other`, 4, { env })).error.code).toBe(
    'A2ACLI_ERR_AUTH_FAILED',
  );
  expect((await run('send --help')).stdout).toMatch(
    /seen by other processes\s+and stays in the history[^]*A2ACLI_BEARER/,
  );
});
row('AUTH_003', 'a credential over an unchecked connection is a warning', async () => {
  const { url } = await tlsAgent();
  expect((await document(`card get -a ${url}`, 3)).error.code).toBe('A2ACLI_ERR_UNREACHABLE');
  const { code, stderr } = await run(`send -a ${url} hi --insecure --bearer t0ken-3`);
  expect(code, stderr).toBe(0);
  expect(stderr).toMatch(/Warning: certificates are not checked[^]*Warning: A CREDENTIAL IS SENT/);
});
row('AUTH_004', 'no secret in what is logged', async () => {
  for (const place of ['header', 'query', 'cookie'] as const) {
    const keyed = await recording({
      auth: { any: [apiKey({ in: place, name: 'X-Key', keys: { 'k3y-secret': 'alice' } })] },
    });
    const { code, stdout, stderr } = await run(
      `send -a ${keyed.url} hi --debug --verbose --api-key k3y-secret --bearer b3arer-secret --svc-param x-own:0wn-secret`,
    );
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(/> POST http[^]*x-own: \[removed\]/);
    expect(stdout + stderr).not.toMatch(/k3y-secret|b3arer-secret|0wn-secret/);
  }
});
row('TX_001', 'the order of the card decides', async () => {
  const card = await document(`card get -a ${agent.url}`);
  for (const [name, interfaces] of [
    [
      'rest',
      card.supportedInterfaces.toSorted((a: any, b: any) =>
        a.protocolBinding.localeCompare(b.protocolBinding),
      ),
    ],
    ['rpc', card.supportedInterfaces],
  ]) {
    writeFileSync(
      join(person.home, `${name}-first.json`),
      JSON.stringify({ ...card, supportedInterfaces: interfaces }),
    );
    expect((await fields(`card get -a ${name}-first.json`)).Selected).toMatch(
      name === 'rest' ? /^HTTP\+JSON 1\.0/ : /^JSONRPC 1\.0/,
    );
  }
});
row('TX_002', 'a favourite comes first, and what is not offered is skipped', async () => {
  expect((await fields(`card get -a ${agent.url}`)).Selected).toMatch(/^JSONRPC/);
  expect(
    (await fields(`card get -a ${agent.url} --transport HTTP+JSON --transport JSONRPC`)).Selected,
  ).toMatch(/^HTTP\+JSON/);
  const one = await raw({ on: { SendMessage: () => ({ task: wireTask('COMPLETED') }) } });
  expect((await fields(`send -a ${one.url} hi --transport GRPC --transport HTTP+JSON`)).State).toBe(
    'TASK_STATE_COMPLETED',
  );
});
row('TX_003', 'a tenant of the card is named in every request, and none otherwise', async () => {
  const answers = {
    SendMessage: () => ({ task: wireTask('COMPLETED') }),
    GetTask: () => wireTask('COMPLETED'),
  };
  const bare = await raw({ on: answers });
  const card = cardAt(bare.url);
  const [first] = card.supportedInterfaces as object[];
  writeFileSync(
    join(person.home, 'tenant.json'),
    JSON.stringify({ ...card, supportedInterfaces: [{ ...first, tenant: 'blue/1' }] }),
  );
  for (const words of ['send hi', 'task get task-1']) {
    await fields(`${words} -a tenant.json`);
    expect(bare.requests.at(-1)?.json.params.tenant).toBe('blue/1');
    await fields(`${words} -a ${bare.url}`);
    expect(bare.requests.at(-1)?.json.params).not.toHaveProperty('tenant');
  }
});
row('VER_001', 'says its version in every request, and speaks none before 1.0 unasked', async () => {
  const one = await raw({ on: { SendMessage: () => ({ task: wireTask('COMPLETED') }) } });
  await fields(`send -a ${one.url} hi`);
  expect(one.requests.map(({ headers }) => headers['a2a-version'])).toEqual(one.requests.map(() => '1.0'));
  const old = await document(`card get -a ${agent.url}`);
  writeFileSync(
    join(person.home, 'old.json'),
    JSON.stringify({
      ...old,
      supportedInterfaces: old.supportedInterfaces.filter((each: any) => each.protocolVersion === '0.3'),
    }),
  );
  const { error } = await document('send -a old.json hi', 1);
  expect(error).toMatchObject({
    code: 'VersionNotSupportedError',
    hint: expect.stringContaining('--a2a-version 0.3'),
  });
  expect((await fields('send -a old.json hi --a2a-version 0.3')).State).toBe('TASK_STATE_COMPLETED');
});
row('DEFAULT_001', 'every default can be seen and changed', async () => {
  const help = (await run('send --help')).stdout.replaceAll(/\s+/g, ' ');
  for (const said of [
    '(default: the order of the card)',
    '(choices: "text", "json", default: "text")',
    'default: 1.0',
    '(default: 10m)',
    '(default: 2s)',
    '--async',
    '--verbose',
    '--insecure',
  ])
    expect(help).toContain(said);
  expect((await run(`send -a ${agent.url} hi`)).stdout).not.toContain('History:');
  expect((await run(`send -a ${agent.url} hi --verbose`)).stdout).toContain('History:');
});
row('CONFIG_001', 'configuration is in one place, shown, and not readable by others', async () => {
  const other = new Person();
  mkdirSync(join(other.home, '.config/a2a-cli'), { recursive: true });
  const file = join(other.home, '.config/a2a-cli/.env');
  writeFileSync(file, `A2ACLI_AGENT_CARD=${agent.url}\nA2ACLI_BEARER=s3cret-1\n`, { mode: 0o644 });
  const before = readFileSync(file);
  const { stdout, stderr } = await other.run(['config', 'show']);
  expect(stdout).toContain(`bearer: (set) [file ${file}]`);
  expect(stdout).not.toContain('s3cret-1');
  expect(stderr).toContain(`chmod 600 ${file}`);
  await other.run(['send', 'hi']);
  expect(readFileSync(file)).toEqual(before);
  expect(readdirSync(join(other.home, '.config/a2a-cli'))).toEqual(['.env']);
  other.leave();
});
row('CLI_001', 'help, the help of each command, and the version', async () => {
  for (const words of ['help', '--help', 'send --help', 'help send', 'task get --help']) {
    const { code, stdout } = await run(words);
    expect(code).toBe(0);
    expect(stdout).toContain('Usage: dragoman');
  }
  for (const flag of ['-v', '--version']) expect((await run(flag)).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});
row('SKILL_001', 'one skill file for coding agents', async () => {
  const files = readdirSync(join(root, 'skills'), { recursive: true, encoding: 'utf8' });
  expect(files.filter((file) => file.endsWith('SKILL.md'))).toEqual([join('dragoman', 'SKILL.md')]);
  const text = readFileSync(join(root, 'skills', 'dragoman', 'SKILL.md'), 'utf8');
  expect(text).toMatch(/^---\nname: dragoman\ndescription: .+\n---\n/);
  expect(text).toMatch(/dragoman help/);
  // Loaded with every conversation, so it has to be short; examples are beside it.
  expect(text.length).toBeLessThan(2_500);
  const examples = readFileSync(join(root, 'skills', 'dragoman', 'references', 'examples.md'), 'utf8');
  for (const [, command = '', rest = ''] of examples.matchAll(/^npx dragoman (\w+(?: \w+)?) (.*)$/gm)) {
    const [first = '', second = ''] = command.split(' ');
    const { stdout } = await run(
      `${first} ${first === 'task' || first === 'card' ? second : ''} --help`.trim(),
    );
    for (const [flag] of rest.matchAll(/(?<= )--?[a-z][\w-]*/g)) expect(stdout, command).toContain(flag);
  }
});
row('SKILL_002', 'the skill file says nothing that the specification says', async () => {
  const text = readFileSync(join(root, 'skills', 'dragoman', 'SKILL.md'), 'utf8');
  expect(text).not.toMatch(/\b(MUST|SHOULD|MAY|SHALL)\b|A2ACLI_[A-Z]+_\d/);
});

tier = 2;
row('CARD_GET_002', 'says what is wrong with a card', async () => {
  expect((await fields(`card get -a ${agent.url} --validate`)).Valid).toBe('yes');
  const odd = await raw({ card: { skills: [{ id: 's' }] } });
  const { error } = await document(`card get -a ${odd.url} --validate`, 1);
  expect(error).toMatchObject({
    code: 'A2ACLI_ERR_CARD_INVALID',
    message: expect.stringContaining('skills[0].name is missing'),
  });
});
row('TASK_LIST_001', 'lists by state and context, page by page', async () => {
  const mine = await demo(person);
  open.push(() => mine.stop('SIGKILL'));
  const { task } = await document(`send -a ${mine.url} one`);
  await document(`send -a ${mine.url} two --context-id ${task.contextId}`);
  await document(`send -a ${mine.url} fail`);
  const page = await document(`task list -a ${mine.url} --context-id ${task.contextId} --page-size 1`);
  expect(page).toMatchObject({ tasks: [{}], totalSize: 2, nextPageToken: expect.stringMatching(/./) });
  const next = await document(
    `task list -a ${mine.url} --context-id ${task.contextId} --page-size 1 --page-token ${page.nextPageToken}`,
  );
  expect(next.tasks[0].id).not.toBe(page.tasks[0].id);
  expect((await document(`task list -a ${mine.url} --status failed`)).tasks).toHaveLength(1);
  expect(await lines(`task list -a ${mine.url} --all --page-size 1`)).toHaveLength(3);
});
row('TASK_SUBSCRIBE_001', 'follows a task that was begun before', async () => {
  const { task } = await document(`send -a ${agent.url} 'slow 2' --async`);
  const events = await lines(`task subscribe ${task.id} -a ${agent.url}`);
  expect(events[0].task.id).toBe(task.id);
  expect(events.at(-1)).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } });
  expect((await document(`task subscribe ${task.id} -a ${agent.url}`)).status.state).toBe(
    'TASK_STATE_COMPLETED',
  );
});
row('TASK_SUBSCRIBE_002', 'takes a broken stream up again, without asking for the task', async () => {
  let times = 0;
  const broken = await raw({
    card: { capabilities: { streaming: true } },
    stream: (_params, events) => {
      events.event({ task: wireTask('WORKING') });
      if (++times < 2) return events.cut();
      events.event({
        statusUpdate: { taskId: 'task-1', contextId: 'context-1', status: { state: 'TASK_STATE_COMPLETED' } },
      });
      events.end();
    },
  });
  expect((await lines(`task subscribe task-1 -a ${broken.url}`)).at(-1)).toMatchObject({
    statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } },
  });
  expect(times).toBe(2);
  expect(broken.requests.some((each) => each.json?.method === 'GetTask')).toBe(false);
});
const oauth = (flows: object): object => ({ oauth2SecurityScheme: { flows } });
row('AUTH_005', 'logs in by device code', async () => {
  const other = new Person();
  const server = await authorizationServer();
  const target = await oauthAgent(
    oauth({
      deviceCode: {
        tokenUrl: `${server.url}/token`,
        deviceAuthorizationUrl: `${server.url}/device`,
        scopes: { a: 'A' },
      },
    }),
  );
  const { code, stdout, stderr } = await other.run(['auth', 'login', '-a', target.url, '--client-id', 'me']);
  expect(code, stderr).toBe(0);
  expect(stderr).toContain(`Open: ${server.url}/agree\nCode: ABCD\n`);
  expect(stdout + stderr).not.toContain('oauth-token-1');
  expect((await other.run(['send', '-a', target.url, 'hi'])).stdout).toContain('TASK_STATE_COMPLETED');
  other.leave();
});
row('AUTH_006', 'logs in as a client', async () => {
  const server = await authorizationServer();
  const target = await oauthAgent(
    oauth({ clientCredentials: { tokenUrl: `${server.url}/token`, scopes: {} } }),
  );
  const env = { A2ACLI_CLIENT_ID: 'ci', A2ACLI_CLIENT_SECRET: 'cl1ent-secret' };
  const { code, stdout, stderr } = await run(`auth login -a ${target.url}`, { env });
  expect(code, stderr).toBe(0);
  expect(stdout + stderr).not.toMatch(/cl1ent-secret|oauth-token-1/);
  expect((await document(`auth login -a ${target.url} --client-id ci`, 4)).error.code).toBe(
    'A2ACLI_ERR_CREDENTIALS_MISSING',
  );
});
row(
  'AUTH_007',
  'keeps tokens where only their owner can read them, and sends them to that agent alone',
  async () => {
    const other = new Person();
    const server = await authorizationServer();
    const scheme = oauth({ clientCredentials: { tokenUrl: `${server.url}/token`, scopes: {} } });
    const [target, stranger] = [await oauthAgent(scheme), await oauthAgent(scheme)];
    expect((await other.run(['send', '-a', target.url, 'hi', '-o', 'json'])).stdout).toContain(
      'dragoman auth login',
    );
    await other.run(['auth', 'login', '-a', target.url, '--client-id', 'ci'], {
      env: { A2ACLI_CLIENT_SECRET: 'cl1ent' },
    });
    const file = join(other.home, '.config/a2a-cli/tokens.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect((await other.run(['send', '-a', target.url, 'hi'])).code).toBe(0);
    expect((await other.run(['send', '-a', stranger.url, 'hi'])).code).toBe(4);
    expect(stranger.requests.every(({ headers }) => headers.authorization === undefined)).toBe(true);
    other.leave();
  },
);
row('TX_004', 'two transports to choose from', async () => {
  for (const transport of ['JSONRPC', 'HTTP+JSON'])
    expect((await fields(`send -a ${agent.url} hi --transport ${transport}`)).State).toBe(
      'TASK_STATE_COMPLETED',
    );
});
row('VER_003', 'does not ask for what the card does not offer', async () => {
  const little = await raw({ on: { SendMessage: () => ({ task: wireTask('COMPLETED') }) } });
  expect((await document(`task push-config list task-1 -a ${little.url}`, 1)).error.code).toBe(
    'PushNotificationNotSupportedError',
  );
  expect((await document(`card get --extended -a ${little.url}`, 1)).error.code).toBe(
    'ExtendedAgentCardNotConfiguredError',
  );
  await lines(`send hi -a ${little.url}`);
  expect(little.requests.flatMap((each) => each.json?.method ?? [])).toEqual(['SendMessage']);
});
row('CONFIG_002', 'flag, environment, local file, own file, default: in that order, and shown', async () => {
  const other = new Person();
  mkdirSync(join(other.home, '.config/a2a-cli'), { recursive: true });
  mkdirSync(join(other.home, 'work/deep'), { recursive: true });
  writeFileSync(
    join(other.home, '.config/a2a-cli/.env'),
    'A2ACLI_TIMEOUT=1m\nA2ACLI_OUTPUT=json\nA2ACLI_AGENT_CARD=global.example.com\n',
  );
  writeFileSync(
    join(other.home, 'work/.env'),
    'OTHER=1\nA2ACLI_AGENT_CARD="local.example.com" # here\nA2ACLI_TIMEOUT=2m\n',
  );
  writeFileSync(join(other.home, 'agent.env'), 'A2ACLI_AGENT_CARD=named.example.com\n');
  const show = async (flags: string[], env = {}) => {
    const { stdout } = await other.run(['config', 'show', ...flags], {
      cwd: join(other.home, 'work/deep'),
      env,
    });
    return Object.fromEntries(
      JSON.parse(stdout).settings.map((each: any) => [each.name, [each.value, each.source.split(' ')[0]]]),
    );
  };
  const shown = await show(['--poll-interval', '7s'], { A2ACLI_TIMEOUT: '3m' });
  expect(shown).toMatchObject({
    'poll-interval': ['7000ms', 'flag'],
    timeout: ['180000ms', 'environment'],
    'agent-card': ['local.example.com', 'file'],
    output: ['json', 'file'],
    insecure: [false, 'default'],
  });
  expect((await show(['--config', join(other.home, 'agent.env')]))['agent-card']).toEqual([
    'named.example.com',
    'file',
  ]);
  other.leave();
});
row('DOWNLOAD_001', 'saves what a task made, under safe names', async () => {
  const file = (filename: string, text: string) => ({
    raw: Buffer.from(text).toString('base64'),
    filename,
    mediaType: 'text/plain',
  });
  const odd = await raw({
    on: {
      GetTask: () =>
        wireTask('COMPLETED', {
          artifacts: [
            {
              artifactId: 'a',
              name: 'notes',
              parts: [
                file('../../etc/passwd', '1'),
                file('.bashrc', '2'),
                file('x.txt', '3'),
                file('X.txt', '4'),
                { text: 'words' },
                { data: { k: 1 } },
                { url: 'https://files.example.com/y.pdf' },
              ],
            },
          ],
        }),
    },
  });
  const folder = join(person.home, 'saved');
  const { text } = await fields(`task download task-1 -a ${odd.url} --out saved`);
  expect(text).toMatch(/State: TASK_STATE_COMPLETED[^]*Left: https:\/\/files\.example\.com\/y\.pdf/);
  expect(readdirSync(folder).toSorted()).toEqual(
    ['X-2.txt', '_bashrc', 'notes-5.txt', 'notes-6.json', 'passwd', 'x.txt'].toSorted(),
  );
  expect((await document(`task download task-1 -a ${odd.url} --out saved`, 2)).error.message).toContain(
    'is there already',
  );
  expect((await run(`task download task-1 -a ${odd.url} --out saved --force`)).code).toBe(0);
  let place = '';
  const linked = await raw({
    on: {
      GetTask: () =>
        wireTask('COMPLETED', {
          artifacts: [{ artifactId: 'a', parts: [{ url: place, filename: 'card.json' }] }],
        }),
    },
  });
  place = `${linked.url}/.well-known/agent-card.json`;
  await fields(`task download task-1 -a ${linked.url} --out fetched --fetch`);
  expect(readFileSync(join(person.home, 'fetched/card.json'), 'utf8')).toContain('Scripted');
  place = 'http://169.254.169.254/latest/';
  expect(
    (await document(`task download task-1 -a ${linked.url} --out fetched --fetch --force`, 3)).error.hint,
  ).toContain('--fetch');
});
row('OUT_007', 'logs what goes over the wire', async () => {
  const { stdout, stderr } = await run(`send -a ${agent.url} hi --debug -o json`);
  expect(JSON.parse(stdout).task.status.state).toBe('TASK_STATE_COMPLETED');
  expect(stderr).toMatch(
    /debug: \d+ > POST http[^]*"method":"SendStreamingMessage"[^]*< HTTP 200 after \d+ ms[^]*"artifactUpdate"/,
  );
});
row(
  'CONFORM_001',
  'checks a live agent',
  async () => {
    const { code, stdout } = await run(`conformance -a ${agent.url} --only 3.1.3 --level must`);
    expect(code, stdout).toBe(0);
  },
  'it runs a suite of its own, which names the requirements of the specification, and not the official kit',
);
row('CLI_002', 'completion for bash, zsh and fish', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout } = await run(`completion ${shell}`);
    expect(code).toBe(0);
    expect(stdout).toMatch(/push-config/);
    if (shell !== 'bash') continue;
    const complete = (line: string) =>
      execFileSync(
        'bash',
        [
          '-c',
          `${stdout}\nCOMP_WORDS=(${line}); COMP_CWORD=$((\${#COMP_WORDS[@]}-1)); _dragoman; echo "\${COMPREPLY[@]}"`,
        ],
        { encoding: 'utf8' },
      );
    expect(complete('dragoman task push-config ""')).toMatch(/create.*list.*get.*delete/);
    expect(complete('dragoman send --out')).toBe('--output\n');
    expect(complete('dragoman send --output ""')).toBe('text json\n');
  }
  expect((await run('completion tcsh')).code).toBe(2);
});
row('PUSH_001', 'webhooks of a task: made, shown, listed, forgotten', async () => {
  const { task } = await document(`send -a ${agent.url} ask`);
  const config = await document(
    `task push-config create ${task.id} --id c1 --url https://hooks.example.com/x --token t0ken -a ${agent.url}`,
  );
  expect(config).toMatchObject({ taskId: task.id, id: 'c1', url: 'https://hooks.example.com/x' });
  expect((await fields(`task push-config get ${task.id} c1 -a ${agent.url}`)).URL).toBe(
    'https://hooks.example.com/x',
  );
  expect((await document(`task push-config list ${task.id} -a ${agent.url}`)).configs).toHaveLength(1);
  expect(await document(`task push-config delete ${task.id} c1 -a ${agent.url}`)).toEqual({});
  expect((await document(`task push-config list ${task.id} -a ${agent.url}`)).configs).toEqual([]);
});

tier = 3;
row('CARD_GET_003', 'the extended card, by a scheme of the public one', async () => {
  const guarded = await demo(person, ['--bearer', 't0ken-4']);
  open.push(() => guarded.stop('SIGKILL'));
  expect((await document(`card get --extended -a ${guarded.url}`, 4)).error.code).toBe(
    'A2ACLI_ERR_CREDENTIALS_MISSING',
  );
  expect((await document(`card get --extended -a ${guarded.url} --bearer t0ken-4`)).description).toContain(
    'knows you',
  );
});
row('AUTH_008', 'no credentials for whoever shows a card', async () => {
  const closed = await startRaw((_request, response) => json(response, { error: 'who?' }, 401));
  open.push(() => closed.close());
  expect((await run(`card get -a ${closed.url} --bearer t0ken-5 --api-key k3y-5`)).code).toBe(4);
  const keyOnly = await raw({
    card: { securitySchemes: { k: { apiKeySecurityScheme: { location: 'header', name: 'x-k' } } } },
    on: { SendMessage: () => ({ task: wireTask('COMPLETED') }) },
  });
  const { stderr } = await run(`send hi -a ${keyOnly.url} --bearer t0ken-5`);
  expect(stderr).toContain('the bearer token is not sent');
  for (const { headers } of [...closed.requests, ...keyOnly.requests])
    expect(JSON.stringify(headers)).not.toMatch(/t0ken-5|k3y-5/);
});
row('CARD_GET_004', 'says whether a signature is right, and uses no card with a wrong one', async () => {
  const { privateKey, publicKey } = await makePair('ES256', 'k1');
  const jwks = { keys: [publicKey] };
  const bare = await raw({});
  const signed: any = await signCard(cardAt(bare.url), { key: privateKey, kid: 'k1', alg: 'ES256' });
  const write = (name: string, value: unknown) =>
    writeFileSync(join(person.home, name), JSON.stringify(value));
  write('keys.json', jwks);
  write('signed.json', signed);
  write('forged.json', { ...signed, name: 'Somebody else' });
  expect((await fields('card get -a signed.json --card-keys keys.json')).Signature).toMatch(/^verified/);
  expect((await fields('card get -a signed.json')).Signature).toMatch(/^unverifiable/);
  expect((await fields(`card get -a ${bare.url}`)).Signature).toMatch(/^absent/);
  expect((await document('card get -a forged.json --card-keys keys.json', 1)).error.code).toBe(
    'A2ACLI_ERR_CARD_INVALID',
  );
});
without('CARD_GET_005', 'agents by the entry of a catalogue', 'fail', 'no catalogue is read');
row('PUSH_002', 'can be the webhook itself', async () => {
  const { task } = await document(`send -a ${agent.url} 'slow 3' --async`);
  const events = await lines(`task push-config create ${task.id} --listen -a ${agent.url}`);
  expect(events.length).toBeGreaterThan(1);
  expect(events.at(-1).statusUpdate.status.state).toBe('TASK_STATE_COMPLETED');
});
row('CHAT_001', 'turn by turn, in one context and one task', async () => {
  const { code, stdout } = await run(`chat -a ${agent.url}`, { input: 'ask\ngreen\nagain\n/ids\n/exit\n' });
  expect(code).toBe(0);
  expect(stdout).toContain('Your colour is green.');
  expect(new Set([...stdout.matchAll(/^Context ID: (\S+)$/gm)].map(([, id]) => id)).size).toBe(1);
  expect(new Set([...stdout.matchAll(/^Task ID: (\w[\w-]+)$/gm)].map(([, id]) => id)).size).toBe(2);
});
without('TX_005', 'gRPC', 'fail', 'gRPC is not spoken; --transport GRPC is skipped with a warning');
row('AUTH_009', 'a certificate of its own', async () => {
  const { url, ca, client } = await tlsAgent(true);
  for (const [name, text] of [
    ['ca.pem', ca],
    ['cert.pem', client.cert],
    ['key.pem', client.key],
  ] as const)
    writeFileSync(join(person.home, name), text);
  expect((await run(`send -a ${url} hi --ca ca.pem`)).code).toBe(3);
  expect(
    (await fields(`send -a ${url} hi --ca ca.pem --client-cert cert.pem --client-key key.pem`)).State,
  ).toBe('TASK_STATE_COMPLETED');
});
row('AUTH_010', 'logs in where an OpenID provider says', async () => {
  const other = new Person();
  const server = await authorizationServer();
  const target = await oauthAgent({
    openIdConnectSecurityScheme: { openIdConnectUrl: `${server.url}/openid` },
  });
  const { code, stderr } = await other.run(['auth', 'login', '-a', target.url, '--client-id', 'me']);
  expect(code, stderr).toBe(0);
  expect(server.requests.find(({ path }) => path === '/device')?.text).toContain('scope=openid');
  expect((await other.run(['send', '-a', target.url, 'hi'])).code).toBe(0);
  other.leave();
});
row('AUTH_011', 'a task that waits for an authorization is told, and goes on afterwards', async () => {
  const { stdout, stderr } = await run(`send -a ${agent.url} auth`);
  expect(stdout).toMatch(/TASK_STATE_AUTH_REQUIRED\nMessage:\n {2}Agree at https:/);
  expect(stderr).toContain('waits for an authorization');
  const [, id] = /Task ID: (\S+)/.exec(stdout) ?? [];
  expect((await fields(`send -a ${agent.url} done --task-id ${id}`)).State).toBe('TASK_STATE_COMPLETED');
});
row('DEMO_SERVER_001', 'a small agent to try all this with', async () => {
  expect((await run(`card get -a ${agent.url} --validate`)).code).toBe(0);
});
row(
  'VER_002',
  'declares extensions that an agent requires',
  async () => {
    const uri = 'https://extensions.example.com/x/v1';
    const strict = await raw({
      card: { capabilities: { streaming: false, extensions: [{ uri, required: true }] } },
      on: { SendMessage: () => ({ task: wireTask('COMPLETED') }) },
    });
    expect((await run(`send hi -a ${strict.url}`)).stderr).toContain(`requires the extension ${uri}`);
    await fields(`send hi -a ${strict.url} --extension ${uri}`);
    expect(strict.requests.at(-1)?.headers['a2a-extensions']).toBe(uri);
  },
  'an extension is declared when --extension names it; none is known here by itself',
);

/** An agent of 1.0 behind TLS, which may want to see a certificate. */
async function tlsAgent(isMutual = false) {
  const made = authority('cli');
  let url = '';
  const server: Server = createServer(
    { ...made.server, ca: made.ca, requestCert: isMutual, rejectUnauthorized: isMutual },
    (request, response) => {
      request.resume().on('end', () => {
        if (request.method === 'GET') json(response, cardAt(url));
        else json(response, { jsonrpc: '2.0', id: 1, result: { task: wireTask('COMPLETED') } });
      });
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  open.push(() => server.close());
  return { url, ca: made.ca, client: made.client('alice') };
}

describe('the client commands keep to the command-line specification', () => {
  for (const each of rows) {
    if (!each.check) continue;
    const { id, about, check } = each;
    const needsOpenssl = ['AUTH_003', 'AUTH_009'].includes(id);
    const isMissing = needsOpenssl && !hasOpenssl();
    if (isMissing) console.log(`skipped: ${id} needs openssl, which is not installed`);
    it.skipIf(isMissing)(`${id}: ${about}`, check);
  }
});

const marks: { [status in Status]: string } = {
  pass: '✅ pass',
  partial: '◐ partial',
  fail: '❌ fail',
  na: '— n/a',
};
const tiers = { 1: 'Core', 2: 'Standard', 3: 'Advanced' } as const;

function page(): string {
  const count = (level: number, status: Status) =>
    rows.filter((each) => each.tier === level && each.status === status).length;
  const summary = ([1, 2, 3] as const).map((level) => {
    const all = rows.filter((each) => each.tier === level).length;
    const isMet = count(level, 'pass') + count(level, 'na') === all;
    return `| ${level} ${tiers[level]} | ${all} | ${count(level, 'pass')} | ${count(level, 'partial')} | ${count(level, 'fail')} | ${count(level, 'na')} | ${isMet ? 'yes' : 'no'} |`;
  });
  const tables = ([1, 2, 3] as const).flatMap((level) => [
    '',
    `## Tier ${level}: ${tiers[level]}`,
    '',
    '| id | about | status | note |',
    '|---|---|---|---|',
    ...rows
      .filter((each) => each.tier === level)
      .map(({ id, about, status, note }) => `| \`A2ACLI_${id}\` | ${about} | ${marks[status]} | ${note} |`),
  ]);
  return `# Compliance with the a2a-cli specification 0.2

Which requirements of the command-line specification of A2A (version 0.2, revision of 2026-08-17) the client commands of
\`dragoman\` meet. Each row that is passed or partial is a test that runs the built command against live agents; the words
are ours. \`npx vitest run test/integration/cli-client-compliance.test.ts -u\` writes this page anew.

| field | value |
|---|---|
| tool | \`dragoman\`, TypeScript on Node |
| tier claimed | 1 |
| protocol versions | 1.0; 0.3, 0.2 and 0.1 when they are asked for |
| transports | JSON-RPC, HTTP+JSON |
| tested against | \`dragoman demo-server\`, agents scripted byte for byte, and guarded ones |

| tier | requirements | pass | partial | fail | n/a | satisfied |
|---|---|---|---|---|---|---|
${summary.join('\n')}
${tables.join('\n')}

## Defaults

| default | shipped | a flag changes it |
|---|---|---|
| transport: the order of the card | yes | \`--transport\` |
| completion: waits | yes | \`--async\` |
| output: text | yes | \`--output\` |
| detail: concise | yes | \`--verbose\` |
| version: the newest in common, never below 1.0 | yes | \`--a2a-version\` |
| transport security: certificates are checked | yes | \`--insecure\`, with a warning |

## Error codes

All eight codes are emitted: \`A2ACLI_ERR_USAGE\` (2), \`A2ACLI_ERR_CARD_NOT_FOUND\` (3), \`A2ACLI_ERR_CARD_INVALID\` (1),
\`A2ACLI_ERR_UNREACHABLE\` (3), \`A2ACLI_ERR_CREDENTIALS_MISSING\` (4), \`A2ACLI_ERR_AUTH_FAILED\` (4), \`A2ACLI_ERR_TIMEOUT\` (5)
and \`A2ACLI_ERR_INTERNAL\` (1). Errors that the protocol names keep that name, such as \`TaskNotFoundError\`, and end with 1.
`;
}

describe('the compliance page', () => {
  it('is made of these tests', async () => {
    await expect(page()).toMatchFileSnapshot('../../docs/reference/a2a-cli-compliance-0.2.md');
  });

  const form = join(root, '../shared/cli/a2a-cli-compliance-0.2.md');
  const hasForm = existsSync(form);
  if (!hasForm) console.log('skipped: the compliance form of the specification is not here');
  it.skipIf(!hasForm)('has every row of the form, in its tier', () => {
    const text = readFileSync(form, 'utf8');
    const wanted = [...text.matchAll(/^## \d+\. Tier (\d)[^]*?(?=^## )/gm)].flatMap(([section, level]) =>
      [...section.matchAll(/^\| `A2ACLI_(\w+_\d+)`/gm)].map(([, id]) => `${level} ${id}`),
    );
    expect(wanted).toHaveLength(66);
    expect(rows.map((each) => `${each.tier} ${each.id}`).toSorted()).toEqual(wanted.toSorted());
  });
});
