import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { CliUser, wireTask1_0 } from '../../support/cli/client-command.ts';
import { type Row, row } from './row.ts';

const oauth = (flows: object): object => ({ oauth2SecurityScheme: { flows } });

/** Tier 2. */
export const standard: readonly Row[] = [
  row('CARD_GET_002', 'validates a card', async ({ agent, fields, document, raw }) => {
    expect((await fields(`card get -a ${agent.url} --validate`)).Valid).toBe('yes');
    const odd = await raw({ card: { skills: [{ id: 's' }] } });
    const { error } = await document(`card get -a ${odd.url} --validate`, 1);
    expect(error).toMatchObject({
      code: 'A2ACLI_ERR_CARD_INVALID',
      message: expect.stringContaining('skills[0].name is missing'),
    });
  }),
  row(
    'TASK_LIST_001',
    'lists tasks by state and context, page by page',
    async ({ document, lines, demo }) => {
      const mine = await demo();
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
    },
  ),
  row('TASK_SUBSCRIBE_001', 'subscribes to an existing task', async ({ agent, document, start }) => {
    const { task } = await document(`send -a ${agent.url} 'slow 600' --async`);
    const subscription = start(`task subscribe ${task.id} -a ${agent.url} -o json --stream`);
    await subscription.prints(/\n/);
    await document(`task cancel ${task.id} -a ${agent.url}`);
    const { stdout } = await subscription.ended;
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events[0].task.id).toBe(task.id);
    expect(events.at(-1)).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_CANCELED' } } });
    expect((await document(`task subscribe ${task.id} -a ${agent.url}`)).status.state).toBe(
      'TASK_STATE_CANCELED',
    );
  }),
  row('TASK_SUBSCRIBE_002', 'resumes a broken stream without fetching the task', async ({ lines, raw }) => {
    let times = 0;
    const broken = await raw({
      card: { capabilities: { streaming: true } },
      stream: (_params, events) => {
        events.event({ task: wireTask1_0('WORKING') });
        if (++times < 2) return events.reset();
        events.event({
          statusUpdate: {
            taskId: 'task-1',
            contextId: 'context-1',
            status: { state: 'TASK_STATE_COMPLETED' },
          },
        });
        events.end();
      },
    });
    expect((await lines(`task subscribe task-1 -a ${broken.url}`)).at(-1)).toMatchObject({
      statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } },
    });
    expect(times).toBe(2);
    expect(broken.requests.some((each) => each.json?.method === 'GetTask')).toBe(false);
  }),
  row('AUTH_005', 'logs in with the device code flow', async ({ authorizationServer, oauthAgent }) => {
    const other = new CliUser();
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
    const { code, stdout, stderr } = await other.run([
      'auth',
      'login',
      '-a',
      target.url,
      '--client-id',
      'me',
    ]);
    expect(code, stderr).toBe(0);
    expect(stderr).toContain(`Open: ${server.url}/approve\nCode: ABCD\n`);
    expect(stdout + stderr).not.toContain('oauth-token-1');
    expect((await other.run(['send', '-a', target.url, 'hi'])).stdout).toContain('TASK_STATE_COMPLETED');
    other.removeHome();
  }),
  row(
    'AUTH_006',
    'logs in with client credentials',
    async ({ run, document, authorizationServer, oauthAgent }) => {
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
    },
  ),
  row(
    'AUTH_007',
    'stores tokens with mode 0600 and sends them only to their agent',
    async ({ authorizationServer, oauthAgent }) => {
      const other = new CliUser();
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
      other.removeHome();
    },
  ),
  row('TX_004', 'supports two transports', async ({ agent, fields }) => {
    for (const transport of ['JSONRPC', 'HTTP+JSON'])
      expect((await fields(`send -a ${agent.url} hi --transport ${transport}`)).State).toBe(
        'TASK_STATE_COMPLETED',
      );
  }),
  row(
    'VER_003',
    'does not call operations that the card does not offer',
    async ({ document, lines, raw }) => {
      const little = await raw({ on: { SendMessage: () => ({ task: wireTask1_0('COMPLETED') }) } });
      expect((await document(`task push-config list task-1 -a ${little.url}`, 1)).error.code).toBe(
        'PushNotificationNotSupportedError',
      );
      expect((await document(`card get --extended -a ${little.url}`, 1)).error.code).toBe(
        'ExtendedAgentCardNotConfiguredError',
      );
      await lines(`send hi -a ${little.url}`);
      expect(little.requests.flatMap((each) => each.json?.method ?? [])).toEqual(['SendMessage']);
    },
  ),
  row(
    'CONFIG_002',
    'resolves flag, environment, local file, global file, default in that order',
    async () => {
      const other = new CliUser();
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
          JSON.parse(stdout).settings.map((each: any) => [
            each.name,
            [each.value, each.source.split(' ')[0]],
          ]),
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
      other.removeHome();
    },
  ),
  row(
    'DOWNLOAD_001',
    'downloads artifacts under safe names',
    async ({ user, run, fields, document, raw }) => {
      const file = (filename: string, text: string) => ({
        raw: Buffer.from(text).toString('base64'),
        filename,
        mediaType: 'text/plain',
      });
      const odd = await raw({
        on: {
          GetTask: () =>
            wireTask1_0('COMPLETED', {
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
      const folder = join(user.home, 'saved');
      const { text } = await fields(`task download task-1 -a ${odd.url} --dir saved`);
      expect(text).toMatch(
        /State: TASK_STATE_COMPLETED[^]*Not fetched: https:\/\/files\.example\.com\/y\.pdf/,
      );
      expect(readdirSync(folder).toSorted()).toEqual(
        ['X-2.txt', '_bashrc', 'notes-5.txt', 'notes-6.json', 'passwd', 'x.txt'].toSorted(),
      );
      expect((await document(`task download task-1 -a ${odd.url} --dir saved`, 2)).error.message).toContain(
        'already exists',
      );
      expect((await run(`task download task-1 -a ${odd.url} --dir saved --force`)).code).toBe(0);
      let place = '';
      const linked = await raw({
        on: {
          GetTask: () =>
            wireTask1_0('COMPLETED', {
              artifacts: [{ artifactId: 'a', parts: [{ url: place, filename: 'card.json' }] }],
            }),
        },
      });
      place = `${linked.url}/.well-known/agent-card.json`;
      await fields(`task download task-1 -a ${linked.url} --dir fetched --fetch`);
      expect(readFileSync(join(user.home, 'fetched/card.json'), 'utf8')).toContain('Scripted');
      place = 'http://169.254.169.254/latest/';
      expect(
        (await document(`task download task-1 -a ${linked.url} --dir fetched --fetch --force`, 3)).error.hint,
      ).toContain('--fetch');
    },
  ),
  row('OUT_007', 'logs protocol messages with --debug', async ({ agent, run }) => {
    const { stdout, stderr } = await run(`send -a ${agent.url} hi --debug -o json`);
    expect(JSON.parse(stdout).task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(stderr).toMatch(
      /debug: \d+ > POST http[^]*"method":"SendStreamingMessage"[^]*< HTTP 200 after \d+ ms[^]*"artifactUpdate"/,
    );
  }),
  row(
    'CONFORM_001',
    'tests a running agent',
    async ({ agent, run }) => {
      const { code, stdout } = await run(`conformance -a ${agent.url} --only 3.1.3 --level must`);
      expect(code, stdout).toBe(0);
    },
    'runs its own suite, which names the requirements of the specification, instead of the official TCK',
  ),
  row('CLI_002', 'prints completion scripts for bash, zsh and fish', async ({ run }) => {
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
  }),
  row(
    'PUSH_001',
    'creates, gets, lists and deletes push configurations',
    async ({ agent, fields, document }) => {
      const { task } = await document(`send -a ${agent.url} ask`);
      const config = await document(
        `task push-config create ${task.id} --id c1 --url https://hooks.example.com/x --notification-token t0ken -a ${agent.url}`,
      );
      expect(config).toMatchObject({ taskId: task.id, id: 'c1', url: 'https://hooks.example.com/x' });
      expect((await fields(`task push-config get ${task.id} c1 -a ${agent.url}`)).URL).toBe(
        'https://hooks.example.com/x',
      );
      expect((await document(`task push-config list ${task.id} -a ${agent.url}`)).configs).toHaveLength(1);
      expect(await document(`task push-config delete ${task.id} c1 -a ${agent.url}`)).toEqual({});
      expect((await document(`task push-config list ${task.id} -a ${agent.url}`)).configs).toEqual([]);
    },
  ),
];
