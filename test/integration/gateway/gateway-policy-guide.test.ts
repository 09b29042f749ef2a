/** The example of docs/guide/policy.md, run, and explained by the command. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { readGatewayConfig } from '../../../src/gateway/config/read-gateway-config.ts';
import { runGateway } from '../../../src/gateway/run-gateway.ts';
import { serve } from '../../../src/server/node/serve.ts';
import { repositoryRoot } from '../../support/cli/run-command.ts';
import { runInProcess } from '../../support/cli/run-in-process.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';
import { createWaitingAgent } from '../../support/gateway/policy-gateway.ts';
import { httpGet, httpPost } from '../../support/http/http-calls.ts';

const open = closeAfterEach();
const environment = { CLIENT_A_TOKEN: 'token-a', TRIAL_TOKEN: 'token-trial' };
let example = '';

beforeAll(() => {
  const page = readFileSync(join(repositoryRoot, 'docs/guide/policy.md'), 'utf8');
  example = /```yaml\n(.*?)```/s.exec(page)?.[1] ?? '';
});

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'policy-guide-'));
  open.push({ close: () => rm(path, { recursive: true }) });
  return path;
}

/** Runs `dragoman gateway explain` with the example. */
async function explain(...flags: string[]) {
  const file = join(folder(), 'dragoman.yaml');
  writeFileSync(file, example);
  const { code, stdout, stderr } = await runInProcess(['gateway', 'explain', file, ...flags], {
    env: environment,
  });
  return { code, stderr, stdout: stdout.replaceAll(file, 'dragoman.yaml') };
}

describe('guide of the policy', () => {
  it('has the example of examples/gateway/policy.yaml', () => {
    const file = readFileSync(join(repositoryRoot, 'examples/gateway/policy.yaml'), 'utf8');
    expect(
      file
        .replaceAll(/, change-me-\w+\}/g, '}')
        .split('\n')
        .slice(1)
        .join('\n'),
    ).toBe(example);
  });

  it('describes what the gateway does', async () => {
    const urls = new Map<string, string>();
    for (const name of ['weather', 'ledger']) {
      const server = await serve(createWaitingAgent(name));
      open.push({ close: () => server.stop(0) });
      urls.set(name, server.url);
    }
    const text = example
      .replace('127.0.0.1:4000', '0')
      .replace(/https:\/\/(\w+)\.internal\/a2a/g, (_, name: string) => `"${urls.get(name)}"`);
    const running = await runGateway(readGatewayConfig(text, join(folder(), 'dragoman.yaml'), environment));
    open.push({ close: () => running.stop(0) });
    const call = (agent: string, token: string, method: string, params: object, version = '1.0') =>
      httpPost(
        `${running.url}/agents/${agent}`,
        { jsonrpc: '2.0', id: 1, method, params },
        { authorization: `Bearer ${token}`, 'a2a-version': version },
      );
    const message = (content = 'hi') => ({
      message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: content }] },
    });
    const sent = await call('weather', 'token-trial', 'SendMessage', message());
    expect(sent.status).toBe(200);
    const { id } = sent.json.result.task;
    expect((await call('weather', 'token-trial', 'CancelTask', { id })).status).toBe(403);
    expect((await call('ledger', 'token-trial', 'SendMessage', message())).status).toBe(403);
    expect((await call('weather', 'token-trial', 'SendMessage', message('x'.repeat(70_000)))).status).toBe(
      413,
    );
    expect((await call('ledger', 'token-a', 'SendMessage', message())).status).toBe(200);
    const webhook = { taskId: id, id: 'a' };
    expect((await call('weather', 'token-a', 'DeleteTaskPushNotificationConfig', webhook)).status).toBe(403);
    const listed = await httpGet(`${running.url}/agents`);
    expect(listed.json.agents.map(({ name }: { name: string }) => name)).toEqual(['weather']);
  });

  it('explains one call with its rule and limits, by exit code and as JSON', async () => {
    const [denied, allowed, json] = await Promise.all([
      explain('--as', 'trial-1', '--agent', 'weather', '--operation', 'cancel'),
      explain('--as', 'client-a', '--agent', 'ledger', '--operation', 'send'),
      explain(
        '--as',
        'client-a',
        '--agent',
        'ledger',
        '--operation',
        'send',
        '--a2a-version',
        '0.3',
        '-o',
        'json',
      ),
    ]);
    expect(denied).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /^denied {2}weather cancel\n {2}because {2}no rule matches; the default is deny {2}dragoman\.yaml:10\n/,
      ),
    });
    expect(allowed).toMatchObject({
      code: 0,
      stdout:
        'allowed  ledger send\n  because  rule: allow  dragoman.yaml:14\n  limit    ledger-clients: versions 1.0; transports JSONRPC, GRPC  dragoman.yaml:28\n',
    });
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({
      result: 'denied',
      kind: 'version',
      place: 'dragoman.yaml:28',
    });
  });

  it('prints a table without an operation, and exits with 2 on usage errors', async () => {
    const [table, unknown, missing] = await Promise.all([
      explain('--as', 'trial-1'),
      explain('--agent', 'wether'),
      explain('--operation', 'Cancel'),
    ]);
    expect(table.code).toBe(0);
    const rows = table.stdout.trimEnd().split('\n');
    expect(rows).toHaveLength(1 + 2 * 12);
    expect(rows[1]).toMatch(/^weather {2}send +allowed {2}trial/);
    expect(unknown).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Name one of weather, ledger'),
    });
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('Cancel') });
  });
});
