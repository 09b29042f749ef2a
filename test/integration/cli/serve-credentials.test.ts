import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { apiKey, bearer, type Credentials } from '../../../src/client/credentials.ts';
import { connect } from '../../../src/client/connect.ts';
import { expectTask, userRequest } from '../../support/engine/conversation.ts';
import {
  repositoryRoot,
  runDragoman,
  type RunningCommand,
  serveModule,
} from '../../support/cli/run-command.ts';

let running: RunningCommand | undefined;

afterEach(async () => {
  await running?.stop();
  running = undefined;
});

const echo = join(repositoryRoot, 'examples', 'echo.js');

async function send(url: string, auth?: Credentials): Promise<string> {
  const agent = connect(url, auth ? { auth } : {});
  try {
    return expectTask(await agent.send(userRequest('hello'))).id;
  } finally {
    await agent.close();
  }
}

describe('dragoman serve with credentials from the environment', () => {
  it('requires the bearer token and declares the scheme in the card', async () => {
    const started = await serveModule(echo, ['--bearer-from-env', 'ADA_TOKEN'], {
      env: { ADA_TOKEN: 's3cret' },
    });
    running = started;
    await expect(send(started.url)).rejects.toMatchObject({ reason: 'UNAUTHENTICATED' });
    await expect(send(started.url, bearer('wrong'))).rejects.toMatchObject({ reason: 'UNAUTHENTICATED' });
    expect(await send(started.url, bearer('s3cret'))).toBeTypeOf('string');
    const agent = connect(started.url);
    const { securitySchemes } = await agent.card();
    await agent.close();
    expect(Object.values(securitySchemes ?? {})).toMatchObject([{ type: 'http', scheme: 'bearer' }]);
    expect(started.stdout).toContain('-H "Authorization: Bearer $ADA_TOKEN"');
    expect(started.stdout + started.stderr).not.toContain('s3cret');
  });

  it('accepts an API key or a token, and keeps the tasks of two clients apart', async () => {
    const started = await serveModule(
      echo,
      ['--api-key-from-env', 'ADA_KEY', '--bearer-from-env', 'BOB_TOKEN'],
      {
        env: { ADA_KEY: 'k3y', BOB_TOKEN: 't0ken' },
      },
    );
    running = started;
    const id = await send(started.url, apiKey({ name: 'X-API-Key', in: 'header', value: 'k3y' }));
    const bob = connect(started.url, { auth: bearer('t0ken') });
    await expect(bob.getTask({ id })).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
    await bob.close();
    const ada = connect(started.url, { auth: apiKey({ name: 'X-API-Key', in: 'header', value: 'k3y' }) });
    expect((await ada.getTask({ id })).id).toBe(id);
    await ada.close();
  });

  it('does not warn about a public address', async () => {
    const started = await serveModule(echo, ['--host', '0.0.0.0', '--bearer-from-env', 'ADA_TOKEN'], {
      env: { ADA_TOKEN: 's3cret' },
    });
    running = started;
    await started.prints(/Press Ctrl-C/);
    expect(started.stderr).not.toContain('without authentication');
  });

  it.each([
    ['a variable that is not set', {}, /variable ADA_TOKEN of --bearer-from-env is not set/],
    ['an empty variable', { ADA_TOKEN: '' }, /variable ADA_TOKEN of --bearer-from-env is not set/],
    ['a token that clients cannot send', { ADA_TOKEN: 'two words' }, /characters that clients cannot send/],
  ])('exits with 2 for %s and does not print the secret', async (_what, env, message) => {
    const { code, stderr } = await runDragoman(['serve', echo, '--bearer-from-env', 'ADA_TOKEN'], { env })
      .ended;
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain('two words');
  });

  it('exits with 2 for two clients with the same secret', async () => {
    const args = ['serve', echo, '--bearer-from-env', 'ADA_TOKEN', '--bearer-from-env', 'BOB_TOKEN'];
    const { code, stderr } = await runDragoman(args, { env: { ADA_TOKEN: 'same', BOB_TOKEN: 'same' } }).ended;
    expect(code).toBe(2);
    expect(stderr).toContain('ADA_TOKEN and BOB_TOKEN have the same value');
  });
});
