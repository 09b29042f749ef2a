import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { defineAgent } from '../../../src/engine/index.ts';
import { serve } from '../../../src/server/node/serve.ts';
import { bearerAuth } from '../../../src/server/auth/schemes/bearer.ts';
import { sampleAgent } from '../../interop/sample-agent.ts';
import { startRawServer } from '../../support/http/raw-server.ts';
import { closeAfterTest } from '../../support/bridge/bridge-fixtures.ts';
import { runDragoman } from '../../support/cli/run-command.ts';
import { runInProcess } from '../../support/cli/run-in-process.ts';

const actions = (...args: string[]) => runInProcess(['actions', ...args]);

async function startAgent(agent = sampleAgent()): Promise<string> {
  const server = await serve(agent);
  closeAfterTest(() => server.stop(0));
  return server.url;
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'dragoman-actions-'));
  closeAfterTest(() => rm(path, { recursive: true }));
  return path;
}

describe('dragoman actions', () => {
  it('lists actions as text and JSON', async () => {
    const url = await startAgent();
    const { code, stdout } = await actions('list', '--agent', url, '--agent', `other=${url}`);
    expect(code).toBe(0);
    expect(stdout.split('\n').slice(0, 5)).toEqual([
      'sample/echo prompt [files]',
      '  Says it back',
      'other/echo prompt [files]',
      '  Says it back',
      'provide_required_input follow_up_id user_response [files]',
    ]);
    const json = await actions('list', '--agent', url, '-o', 'json');
    expect(JSON.parse(json.stdout)[0]).toMatchObject({ name: 'sample/echo', skillId: 'echo' });
  });

  it('invokes an action with text and files', async () => {
    const url = await startAgent();
    const path = join(folder(), 'notes.txt');
    writeFileSync(path, 'noted');
    const plain = await actions('invoke', 'sample/echo', 'a = b,', 'and c', '--agent', url);
    expect([plain.code, plain.stdout]).toEqual([0, 'a = b, and c\n']);
    const { code, stdout } = await actions(
      'invoke',
      'sample/echo',
      'x',
      '--file',
      path,
      '--agent',
      url,
      '-o',
      'json',
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      success: true,
      message: 'x',
      files: [{ name: 'notes.txt', size: 5, bytes: Buffer.from('noted').toString('base64') }],
    });
  });

  it('accepts named parameters', async () => {
    const agent = defineAgent({
      name: 'Tower of Babel',
      description: 'Translates',
      skills: [{ id: 'to', description: '{text} in {language}' }],
      process: ({ text }) => text,
    });
    const url = await startAgent(agent);
    const { stdout } = await actions(
      'invoke',
      'tower_of_babel/to',
      'text=Baum',
      'language=en',
      '--agent',
      url,
    );
    expect(stdout).toBe('Baum in en\n');
    const wrong = await actions('invoke', 'tower_of_babel/to', 'Baum', '--agent', url);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('text, language, files')]);
  });

  it('redeems a follow-up ID in another process', async () => {
    const url = await startAgent();
    const file = join(folder(), 'open.db');
    const flags = ['--agent', url, '--follow-ups', file];
    const inputRequired = await runDragoman(['actions', 'invoke', 'sample/echo', 'ask', ...flags]).ended;
    expect([inputRequired.code, inputRequired.stdout]).toEqual([
      1,
      expect.stringContaining('INPUT_REQUIRED: Which one?'),
    ]);
    const id = /follow-up ID: (\S+)/.exec(inputRequired.stdout)?.[1] ?? '';
    const parameters = ['provide_required_input', `follow_up_id=${id}`, 'user_response=red'];
    const completed = await actions('invoke', ...parameters, ...flags);
    expect([completed.code, completed.stdout]).toEqual([0, 'red\n']);
  });

  it('exits with 2 on usage errors and with 1 on unreachable agents', async () => {
    const url = await startAgent();
    const unknown = await actions('invoke', 'sample/other', '--agent', url);
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('sample/echo')]);
    expect((await actions('list', '--agent', 'nowhere')).code).toBe(2);
    expect((await actions('list')).code).toBe(2);
    expect((await actions('invoke', 'sample/echo', 'x', '--file', '/nowhere', '--agent', url)).code).toBe(2);
    expect((await actions('list', '--agent', url, '--bearer-env', 'NO_SUCH_TOKEN')).code).toBe(2);
    expect((await actions('list', '--agent', 'http://127.0.0.1:9')).code).toBe(1);
  });

  it('reads the bearer token from the environment', async () => {
    const server = await serve(sampleAgent(), {
      auth: { authenticators: [bearerAuth({ tokens: { 'a-secret-of-some-length': 'alice' } })] },
    });
    closeAfterTest(() => server.stop(0));
    const args = ['actions', 'invoke', 'sample/echo', 'x', '--agent', server.url];
    expect((await runInProcess(args)).code).toBe(1);
    const { code, stdout } = await runInProcess([...args, '--bearer-env', 'ECHO_TOKEN'], {
      env: { ECHO_TOKEN: 'a-secret-of-some-length' },
    });
    expect([code, stdout]).toEqual([0, 'x\n']);
  });

  it('sends credentials to another origin of the card only with --credential-origin', async () => {
    const server = await serve(sampleAgent(), {
      auth: { authenticators: [bearerAuth({ tokens: { 'a-secret-of-some-length': 'alice' } })] },
    });
    closeAfterTest(() => server.stop(0));
    const headers = { 'a2a-version': '1.0' };
    const card = await (await fetch(`${server.url}/.well-known/agent-card.json`, { headers })).text();
    const cardServer = await startRawServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(card);
    });
    closeAfterTest(() => cardServer.close());
    const args = ['actions', 'invoke', 'sample/echo', 'x', '--agent', cardServer.url];
    const options = { env: { ECHO_TOKEN: 'a-secret-of-some-length' } };
    const refused = await runInProcess([...args, '--bearer-env', 'ECHO_TOKEN'], options);
    expect([refused.code, refused.stdout + refused.stderr]).toEqual([1, expect.stringContaining(server.url)]);
    const allowed = [...args, '--bearer-env', 'ECHO_TOKEN', '--credential-origin', server.url];
    const { code, stdout } = await runInProcess(allowed, options);
    expect([code, stdout]).toEqual([0, 'x\n']);
  });

  it('cancels the task on SIGINT', async () => {
    const agent = sampleAgent();
    const url = await startAgent(agent);
    const running = runDragoman(['actions', 'invoke', 'sample/echo', 'slow', '--agent', url]);
    await running.prints(/This takes a while/, 'stderr');
    const { code, stdout } = await running.stop('SIGINT');
    expect([code, stdout]).toEqual([1, expect.stringContaining('CANCELED')]);
    expect((await agent.listTasks({})).tasks[0]?.status.state).toBe('canceled');
  });
});
