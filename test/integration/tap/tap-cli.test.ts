import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import { serve } from '../../../src/server/node/serve.ts';
import { readTrafficFile } from '../../../src/tap/traffic-file.ts';
import { sampleAgent } from '../../interop/sample-agent.ts';
import type { CommandResult } from '../../support/cli/run-command.ts';
import { runInProcess } from '../../support/cli/run-in-process.ts';
import { createAuthority, hasOpenssl } from '../../support/http/certificates.ts';
import { httpGet, httpPost } from '../../support/http/http-calls.ts';
import { tapEnvironment, useTapCommands } from '../../support/tap/tap-command.ts';

const tap = useTapCommands();

/** Runs a command that ends by itself. */
function runToEnd(args: string[]): Promise<CommandResult> {
  return runInProcess(['tap', ...args], { env: tapEnvironment });
}

const version = { 'a2a-version': '1.0' };
const say = (text: string) => ({
  message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] },
});

/** Replaces all times by constants. */
const normalizeTimes = (text: string): string =>
  text
    .replaceAll(/^\d\d:\d\d:\d\d\.\d{3}/gm, '12:00:00.000')
    .replaceAll(/\d+ ms/g, (milliseconds) => '1 ms'.padStart(milliseconds.length));

/** The card that the tap itself has fetched is only in the file. */
const cardOfTap = `12:00:00.000     tap ──▶ Sample                      get card
12:00:00.000     tap ◀── Sample  1.0           1 ms  card of Sample 1.2.3
`;

const golden = `12:00:00.000  client ──▶ Sample  1.0 REST            send: hello
12:00:00.000  client ◀── Sample  1.0 REST      1 ms  task completed: hello
12:00:00.000  client ──▶ Sample  1.0 REST            stream: stream
12:00:00.000  client ◀── Sample  1.0 REST      1 ms  stream begins
12:00:00.000  client ◀┄┄ Sample  1.0 REST      1 ms  task submitted
12:00:00.000  client ◀┄┄ Sample  1.0 REST      1 ms  status working
12:00:00.000  client ◀┄┄ Sample  1.0 REST      1 ms  artifact answer (first chunk): 0
12:00:00.000  client ◀┄┄ Sample  1.0 REST      1 ms  artifact answer (chunk): 1
12:00:00.000  client ◀┄┄ Sample  1.0 REST      1 ms  artifact answer (chunk): 2
12:00:00.000  client ◀┄┄ Sample  1.0 REST      1 ms  artifact answer (chunk): 3
12:00:00.000  client ◀┄┄ Sample  1.0 REST      1 ms  artifact answer (last chunk): 4
12:00:00.000  client ◀┄┄ Sample  1.0 REST      1 ms  status completed
12:00:00.000  client ──┤ Sample  1.0 REST      1 ms  The stream ended
12:00:00.000  client ──▶ Sample  0.3 RPC             get task nope
12:00:00.000  client ◀── Sample  0.3 RPC       1 ms  task not found
`;

describe('dragoman tap', () => {
  it('prints and records traffic, redacts secrets and exits with 0 on SIGINT', async () => {
    const to = await tap.startAgent();
    const file = join(tap.createFolder(), 'talk.jsonl');
    const running = tap.run(['--to', to, '--record', file]);
    const [, url = ''] = await running.prints(/^listening on (\S+)\n/);
    await running.prints(/Press Ctrl-C to stop\.\n\n/);
    const secret = 'tok_live_4711_abcdef';
    await httpPost(`${url}/message:send`, say('hello'), { ...version, authorization: `Bearer ${secret}` });
    await httpPost(`${url}/message:stream`, say('stream'), version);
    await httpPost(url, { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id: 'nope' } });
    await running.prints(/task not found\n/);
    const { code, stdout, stderr } = await running.stop('SIGINT');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`Sample at ${to} is available at ${url}`);
    expect(normalizeTimes(stdout.split('Press Ctrl-C to stop.\n\n')[1] ?? '')).toBe(golden);
    const text = readFileSync(file, 'utf8');
    expect(text + stdout).not.toContain(secret);
    expect(readTrafficFile(text)).toHaveLength(17);
    expect(statSync(file).mode & 0o077).toBe(0);

    const again = await runToEnd(['--read', file]);
    expect(again.stderr).toBe('');
    expect(normalizeTimes(again.stdout)).toBe(cardOfTap + golden);
    const json = await runToEnd(['--read', file, '-o', 'json']);
    expect(
      json.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(readTrafficFile(text));
    const scenario = await runToEnd(['--read', file, '-o', 'scenario']);
    expect(scenario.stdout).toContain('scenario: sample-stream\n');
    expect(scenario.stdout).toContain('credentials, which are not stored: pass them with headers');
  });

  it.skipIf(!hasOpenssl())('prints and records gRPC of an agent with TLS', async () => {
    const authority = createAuthority('tap');
    const folder = tap.createFolder();
    const certificates = join(folder, 'ca.pem');
    writeFileSync(certificates, authority.ca);
    const server = await serve(sampleAgent(), { tls: authority.server });
    tap.open.push({ close: () => server.stop(0) });
    const file = join(folder, 'talk.jsonl');
    const running = tap.run(['--to', server.url, '--record', file], { NODE_EXTRA_CA_CERTS: certificates });
    const [, url = ''] = await running.prints(/^listening on (\S+)\n/);
    await using client = connect(url, { transports: ['GRPC'] });
    expect(await client.send('hello')).toMatchObject({ status: { state: 'completed' } });
    await running.prints(/dragoman ──▶ Sample +1\.0 gRPC +send: hello\n/);
    await running.prints(/dragoman ◀── Sample +1\.0 gRPC +\d+ ms +task completed: hello\n/);
    expect(await running.stop('SIGINT')).toMatchObject({ code: 0, stderr: '' });
    const transports = readTrafficFile(readFileSync(file, 'utf8')).map(({ decoded }) => decoded?.transport);
    expect(transports.filter((each) => each === 'GRPC')).toHaveLength(2);
  });

  it('serves the traffic in the console with --console', async () => {
    const running = tap.run(['--to', await tap.startAgent(), '--console']);
    const [, url = ''] = await running.prints(/^listening on (\S+)\n/);
    const [, consoleUrl = ''] = await running.prints(/console +(\S+)\n/);
    await httpGet(`${url}/.well-known/agent-card.json`);
    await running.prints(/card of Sample/);
    const { origin, searchParams } = new URL(consoleUrl);
    const { text } = await httpGet(`${origin}/api/traffic/file`, {
      authorization: `Bearer ${searchParams.get('token')}`,
    });
    expect(readTrafficFile(text).map(({ kind }) => kind)).toEqual(['request', 'response']);
    expect((await running.stop('SIGINT')).code).toBe(0);
  });

  it('prints messages beside their translation with --diff', async () => {
    const file = join(tap.createFolder(), 'one.jsonl');
    const lines = [
      { format: 'dragoman-tap', version: 1 },
      {
        sequence: 1,
        at: 0,
        exchangeId: 'x',
        kind: 'request',
        from: 'client',
        to: 'Sample',
        http: { method: 'POST', url: 'http://agent.test/', headers: {} },
        text: '{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"hi"}]}}}',
        decoded: {
          version: '0.3',
          transport: 'JSONRPC',
          operation: 'send',
          summary: 'send: hi',
          model: { message: { messageId: 'm', role: 'user', parts: [{ text: 'hi' }] } },
        },
      },
    ];
    writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const { stdout } = await runToEnd(['--read', file, '--diff']);
    const rows = stdout.split('\n').map((row) => row.replaceAll(/ +/g, ' '));
    expect(rows).toContain(' 0.3 │ 1.0');
    expect(rows).toContain('- kind: "message" │');
    expect(rows).toContain('~ role: "user" │ role: "ROLE_USER"');
    expect(rows).toContain(' text: "hi" │ text: "hi"');
    const older = (await runToEnd(['--read', file, '--diff', '0.1'])).stdout;
    expect(older).toMatch(/^! message\.messageId dropped: /m);
  });

  it('exits with 2 on invalid flags and files', async () => {
    const wrong = join(tap.createFolder(), 'wrong.jsonl');
    writeFileSync(wrong, '{"format":"dragoman-tap","version":1}\n{"kind":"request"}\n');
    const usageErrors: [string[], RegExp][] = [
      [[], /error: Missing target\nhint: Pass --to URL/],
      [['--to', 'nowhere'], /Invalid URL: nowhere/],
      [['--to', 'ftp://x.test'], /Invalid URL: ftp:\/\/x\.test/],
      [['--to', 'http://x.test', '--read', wrong], /--to and --read cannot be used together/],
      [['--to', 'http://x.test', '-o', 'scenario'], /Record with --record FILE first/],
      [['--read', wrong, '-o', 'json', '--diff'], /--diff needs text output/],
      [['--read', join(tap.createFolder(), 'none')], /File not found: .*none\n/],
      [['--read', wrong], /wrong\.jsonl: Line 2 is not a traffic record: at: /],
      [
        ['--to', 'http://x.test', '--record', join(tap.createFolder(), 'no/where')],
        /Cannot write .*no\/where/,
      ],
    ];
    for (const [args, message] of usageErrors) {
      const { code, stdout, stderr } = await runToEnd(args);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(message);
    }
  });
});
