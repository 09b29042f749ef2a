import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { serve } from '../../../src/server/node/serve.ts';
import { signCard } from '../../../src/signing/sign-card.ts';
import { card1_0At, CliUser, wireTask1_0 } from '../../support/cli/client-command.ts';
import { respondJson, startRawServer } from '../../support/http/raw-server.ts';
import { createKeyPair } from '../../support/signing/signed-card.ts';
import { type Row, row } from './row.ts';

/** Tier 3. */
export const advanced: readonly Row[] = [
  row(
    'CARD_GET_003',
    'fetches the extended card with a scheme of the public card',
    async ({ document, demo }) => {
      const authenticated = await demo(['--require-bearer', 't0ken-4']);
      expect((await document(`card get --extended -a ${authenticated.url}`, 4)).error.code).toBe(
        'A2ACLI_ERR_CREDENTIALS_MISSING',
      );
      expect(
        (await document(`card get --extended -a ${authenticated.url} --bearer t0ken-4`)).description,
      ).toContain('for authenticated clients');
    },
  ),
  row('AUTH_008', 'sends no credentials with the card request', async ({ onClose, run, raw }) => {
    const closed = await startRawServer((_request, response) =>
      respondJson(response, { error: 'unauthenticated' }, 401),
    );
    onClose(() => closed.close());
    expect((await run(`card get -a ${closed.url} --bearer t0ken-5 --api-key k3y-5`)).code).toBe(4);
    const keyOnly = await raw({
      card: { securitySchemes: { k: { apiKeySecurityScheme: { location: 'header', name: 'x-k' } } } },
      on: { SendMessage: () => ({ task: wireTask1_0('COMPLETED') }) },
    });
    const { stderr } = await run(`send hi -a ${keyOnly.url} --bearer t0ken-5`);
    expect(stderr).toContain('The bearer token is not sent');
    for (const { headers } of [...closed.requests, ...keyOnly.requests])
      expect(JSON.stringify(headers)).not.toMatch(/t0ken-5|k3y-5/);
  }),
  row(
    'CARD_GET_004',
    'verifies signatures and rejects a card with an invalid one',
    async ({ user, fields, document, raw }) => {
      const { privateKey, publicKey } = await createKeyPair('ES256', 'k1');
      const jwks = { keys: [publicKey] };
      const bare = await raw({});
      const signed: any = await signCard(card1_0At(bare.url), { key: privateKey, kid: 'k1', alg: 'ES256' });
      const write = (name: string, value: unknown) =>
        writeFileSync(join(user.home, name), JSON.stringify(value));
      write('keys.json', jwks);
      write('signed.json', signed);
      write('forged.json', { ...signed, name: 'Another agent' });
      expect((await fields('card get -a signed.json --card-keys keys.json')).Signature).toMatch(/^verified/);
      expect((await fields('card get -a signed.json')).Signature).toMatch(/^unverifiable/);
      expect((await fields(`card get -a ${bare.url}`)).Signature).toMatch(/^absent/);
      expect((await document('card get -a forged.json --card-keys keys.json', 1)).error.code).toBe(
        'A2ACLI_ERR_CARD_INVALID',
      );
    },
  ),
  row('CARD_GET_005', 'resolves agents from a catalog', async ({ onClose, agent, fields, document }) => {
    const entry = (name: string, url: string) => ({
      identifier: `urn:air:h.example:agent:${name}`,
      type: 'application/a2a-agent-card+json',
      url,
    });
    const entries = [entry('demo', `${agent.url}/.well-known/agent-card.json`)];
    const host = await startRawServer(({ path }, response) =>
      path === '/.well-known/ai-catalog.json'
        ? respondJson(response, { specVersion: '1.0', entries })
        : respondJson(response, {}, 404),
    );
    onClose(() => host.close());
    expect((await fields(`send -a ${host.url} hi`)).State).toBe('TASK_STATE_COMPLETED');
    entries.push(entry('other', 'https://h.example/card.json'));
    const { error } = await document(`send -a ${host.url} hi`, 3);
    expect(error).toMatchObject({ code: 'A2ACLI_ERR_CARD_NOT_FOUND' });
    expect(error.message).toMatch(/2 agents: demo \(http.*\), other \(https:/);
    expect((await fields(`send -a ${host.url}#demo hi`)).State).toBe('TASK_STATE_COMPLETED');
    expect((await document(`card list -a ${host.url}`)).agents).toMatchObject([
      { name: 'demo' },
      { name: 'other' },
    ]);
  }),
  row('PUSH_002', 'runs a webhook receiver', async ({ agent, document, lines }) => {
    const { task } = await document(`send -a ${agent.url} 'slow 4' --async`);
    const events = await lines(`task push-config create ${task.id} --listen -a ${agent.url}`);
    expect(events.length).toBeGreaterThan(1);
    expect(events.at(-1).statusUpdate.status.state).toBe('TASK_STATE_COMPLETED');
  }),
  row('CHAT_001', 'keeps context and task between turns', async ({ agent, run }) => {
    const { code, stdout } = await run(`chat -a ${agent.url}`, { input: 'ask\ngreen\nagain\n/ids\n/exit\n' });
    expect(code).toBe(0);
    expect(stdout).toContain('Your color is green.');
    expect(new Set([...stdout.matchAll(/^Context ID: (\S+)$/gm)].map(([, id]) => id)).size).toBe(1);
    expect(new Set([...stdout.matchAll(/^Task ID: (\w[\w-]+)$/gm)].map(([, id]) => id)).size).toBe(2);
  }),
  row('TX_005', 'uses gRPC', async ({ onClose, fields, lines }) => {
    const parrot = defineAgent({ name: 'Parrot', description: 'Repeats', process: ({ text }) => text });
    const server = await serve(parrot, { grpc: true });
    onClose(() => server.stop(0));
    expect((await fields(`card get -a ${server.url} --transport GRPC`)).Selected).toMatch(/^GRPC/);
    expect((await fields(`send -a ${server.url} hi --transport GRPC`)).State).toBe('TASK_STATE_COMPLETED');
    const events = await lines(`send -a ${server.url} hi --transport GRPC`);
    expect(events.at(-1).statusUpdate.status.state).toBe('TASK_STATE_COMPLETED');
  }),
  row('AUTH_009', 'authenticates with mutual TLS', async ({ user, run, fields, tlsAgent }) => {
    const { url, ca, client } = await tlsAgent(true);
    for (const [name, text] of [
      ['ca.pem', ca],
      ['cert.pem', client.cert],
      ['key.pem', client.key],
    ] as const)
      writeFileSync(join(user.home, name), text);
    expect((await run(`send -a ${url} hi --ca ca.pem`)).code).toBe(3);
    expect(
      (await fields(`send -a ${url} hi --ca ca.pem --client-cert cert.pem --client-key key.pem`)).State,
    ).toBe('TASK_STATE_COMPLETED');
  }),
  row('AUTH_010', 'logs in with OpenID Connect discovery', async ({ authorizationServer, oauthAgent }) => {
    const other = new CliUser();
    const server = await authorizationServer();
    const target = await oauthAgent({
      openIdConnectSecurityScheme: { openIdConnectUrl: `${server.url}/openid` },
    });
    const { code, stderr } = await other.run(['auth', 'login', '-a', target.url, '--client-id', 'me']);
    expect(code, stderr).toBe(0);
    expect(server.requests.find(({ path }) => path === '/device')?.text).toContain('scope=openid');
    expect((await other.run(['send', '-a', target.url, 'hi'])).code).toBe(0);
    other.removeHome();
  }),
  row(
    'AUTH_011',
    'reports auth-required and continues the task afterwards',
    async ({ agent, run, fields }) => {
      const { stdout, stderr } = await run(`send -a ${agent.url} auth`);
      expect(stdout).toMatch(/TASK_STATE_AUTH_REQUIRED\nMessage:\n {2}Approve at https:/);
      expect(stderr).toContain('requires authorization');
      const [, id] = /Task ID: (\S+)/.exec(stdout) ?? [];
      expect((await fields(`send -a ${agent.url} done --task-id ${id}`)).State).toBe('TASK_STATE_COMPLETED');
    },
  ),
  row('DEMO_SERVER_001', 'starts a local demo agent', async ({ agent, run }) => {
    expect((await run(`card get -a ${agent.url} --validate`)).code).toBe(0);
  }),
  row(
    'VER_002',
    'declares protocol extensions',
    async ({ run, fields, raw }) => {
      const uri = 'https://extensions.example.com/x/v1';
      const strict = await raw({
        card: { capabilities: { streaming: false, extensions: [{ uri, required: true }] } },
        on: { SendMessage: () => ({ task: wireTask1_0('COMPLETED') }) },
      });
      expect((await run(`send hi -a ${strict.url}`)).stderr).toContain(`requires the extension ${uri}`);
      await fields(`send hi -a ${strict.url} --extension ${uri}`);
      expect(strict.requests.at(-1)?.headers['a2a-extensions']).toBe(uri);
    },
    'declares only extensions named with --extension',
  ),
];
