import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CliUser } from '../../support/cli/client-command.ts';
import type { RawServer } from '../../support/http/raw-server.ts';
import {
  type AuthorizationServer,
  startAuthorizationServer,
} from '../../support/oauth/authorization-server.ts';
import { startOAuthAgent } from '../../support/oauth/oauth-agent.ts';

describe('dragoman auth', () => {
  const user = new CliUser();
  let server: AuthorizationServer;
  let agent: RawServer;
  let stranger: RawServer;
  beforeAll(async () => {
    server = await startAuthorizationServer();
    [agent, stranger] = await Promise.all([startOAuthAgent(server), startOAuthAgent(server)]);
  });
  afterAll(async () => {
    await Promise.all([server.close(), agent.close(), stranger.close()]);
    user.removeHome();
  });

  it('logs in with a browser, sends the token to this agent only, and logs out', async () => {
    const login = user.start(['auth', 'login', '-a', agent.url, '--client-id', 'tool']);
    const [, url = ''] = await login.prints(/^Open: (\S+)\n/m, 'stderr');
    expect(await (await fetch(url)).text()).toContain('You are logged in');
    const { code, stdout, stderr } = await login.ended;
    expect(code, stderr).toBe(0);
    const [token = ''] = server.accessTokens;
    expect(stdout + stderr).not.toContain(token);
    expect(statSync(join(user.home, '.config/a2a-cli/tokens.json')).mode & 0o777).toBe(0o600);

    expect((await user.run(['send', '-a', agent.url, 'hi'])).stdout).toContain('welcome');
    expect((await user.run(['send', '-a', stranger.url, 'hi'])).code).toBe(4);
    expect(stranger.requests.every(({ headers }) => headers.authorization === undefined)).toBe(true);

    const status = await user.run(['auth', 'status', '-o', 'json']);
    expect(status.stdout).not.toContain(token);
    expect(JSON.parse(status.stdout)).toMatchObject({
      tokens: [{ isExpired: false, isRenewable: true, scope: 'read', origins: [agent.url] }],
    });
    expect((await user.run(['auth', 'logout', '-a', agent.url])).stdout).toContain(agent.url);
    expect((await user.run(['send', '-a', agent.url, 'hi'])).code).toBe(4);
    expect((await user.run(['auth', 'logout', '--all-agents', '-o', 'json'])).stdout).toContain(
      '"deleted": []',
    );
  });

  it('exits with 4 and the reason if the user denies the access', async () => {
    server.behavior.decision = 'deny';
    const login = user.start(['auth', 'login', '-a', agent.url, '--client-id', 'tool', '-o', 'json']);
    const [, url = ''] = await login.prints(/^Open: (\S+)\n/m, 'stderr');
    await fetch(url);
    const { code, stdout } = await login.ended;
    expect(code).toBe(4);
    expect(JSON.parse(stdout).error).toMatchObject({
      code: 'A2ACLI_ERR_AUTH_FAILED',
      message: expect.stringContaining('access_denied'),
    });
  });
});
