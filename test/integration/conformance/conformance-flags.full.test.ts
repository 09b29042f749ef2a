import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServedAgent, serveMutant } from '../../../src/conformance/mutants/harness/serve-mutant.ts';
import { withInterceptor } from '../../../src/protocol/composition/with-interceptor.ts';
import type { ConformanceReport, ConformanceResult } from '../../../src/conformance/report/build-report.ts';
import { textOf } from '../../../src/protocol/part.ts';
import { serve } from '../../../src/server/node/serve.ts';
import type { CommandResult } from '../../support/cli/run-command.ts';
import { runInProcess } from '../../support/cli/run-in-process.ts';
import { findFreePort } from '../../support/http/free-port.ts';
import { startTcpRelay } from '../../support/http/tcp-relay.ts';
import { tckAgent } from '../../support/conformance/tck-agent.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-flags-'));
const newest = ['--a2a-version', '1.0', '--transport', 'jsonrpc', '--timeout', '60'];
const conformance = (...args: string[]): Promise<CommandResult> =>
  runInProcess(['conformance', ...args], { cwd: folder });
const ann = ['--header', 'Authorization: Bearer token-of-ann'];

/** Returns the verdict of every rule in a JSON report. */
async function rulesOf(...args: string[]): Promise<Map<string, ConformanceResult>> {
  const { stdout, stderr } = await conformance(...args, ...newest, '-o', 'json');
  expect(stderr).toBe('');
  const { categories } = JSON.parse(stdout) as ConformanceReport;
  return new Map(Object.values(categories).flatMap((list) => list.map((each) => [each.test, each])));
}

let right: ServedAgent;
let guarded: ServedAgent;

beforeAll(async () => {
  right = await serveMutant();
  guarded = await serveMutant({ requiresAuthentication: true });
});

afterAll(async () => {
  await Promise.all([right, guarded].map((each) => each.close()));
  rmSync(folder, { recursive: true, force: true });
});

describe('flags of dragoman conformance', () => {
  it('sends only examples of the skill with --skill', async () => {
    const receivedTexts = new Set<string>();
    const skill = { name: 'Skill', description: 'A skill', tags: ['test'] };
    const served = await serveMutant({
      definition: {
        skills: [
          { ...skill, id: 'one', examples: ['words for one'] },
          { ...skill, id: 'two', examples: ['{url} is to be filled in', 'words for two'] },
        ],
      },
      agent: (agent) =>
        withInterceptor(agent, {
          send(request, call) {
            receivedTexts.add(textOf(request.message.parts));
            return agent.send(request, call);
          },
        }),
    });
    await rulesOf(served.url, '--skill', 'two', '--only', 'send.answers');
    expect([...receivedTexts]).toEqual(['words for two']);
    await served.close();
  });

  it('tests isolation between two users with --other-user-header', async () => {
    const only = [guarded.url, '--fixtures', 'fx', '--only', 'authz', '--only', '13.1', ...ann];
    const alone = [...(await rulesOf(...only)).values()].filter(({ section }) => section === '13.1');
    expect(alone.length).toBeGreaterThan(0);
    expect(alone.some(({ message = '' }) => message.includes('--other-user-header'))).toBe(true);
    const both = await rulesOf(...only, '--other-user-header', 'Authorization: Bearer token-of-ben');
    for (const { test, message = '' } of alone)
      if (message.includes('--other-user-header'))
        expect(`${test} ${both.get(test)?.verdict}`).toBe(`${test} pass`);
  });

  it('tests authorization errors with --restricted-user-header', async () => {
    const only = [guarded.url, '--only', 'auth.forbidden', '--only', 'auth.forbidden-hint', ...ann];
    expect((await rulesOf(...only)).get('auth.forbidden')?.message).toContain('--restricted-user-header');
    const limited = await rulesOf(...only, '--restricted-user-header', 'Authorization: Bearer token-of-cat');
    expect([...limited.values()].map(({ test, verdict }) => `${test} ${verdict}`)).toEqual([
      'auth.forbidden pass',
      'auth.forbidden-hint pass',
    ]);
    const everything = await rulesOf(
      ...only,
      '--restricted-user-header',
      'Authorization: Bearer token-of-ben',
    );
    expect(everything.get('auth.forbidden')?.verdict).toBe('fail');
  });

  it('receives notifications at --webhook-url and listens on --webhook-port', async () => {
    const urls: string[] = [];
    const served = await serveMutant({
      agent: (agent) =>
        withInterceptor(agent, {
          createPushConfig(config, call) {
            urls.push(config.url);
            return agent.createPushConfig(config, call);
          },
        }),
    });
    const port = await findFreePort();
    const relay = await startTcpRelay(port);
    const address = `http://127.0.0.1:${relay.port}/way/in`;
    const only = [served.url, '--fixtures', 'fx', '--only', 'push.delivers', '--webhook-port', String(port)];
    relay.disconnect();
    expect((await rulesOf(...only, '--webhook-url', address)).get('push.delivers')?.verdict).toBe('fail');
    relay.restore();
    expect((await rulesOf(...only, '--webhook-url', address)).get('push.delivers')?.verdict).toBe('pass');
    expect(urls.every((url) => url.startsWith(`${address}/`))).toBe(true);
    await relay.remove();
    await served.close();
  });

  it('reaches all target states of a TCK agent with --fixtures tck', async () => {
    const agent = tckAgent();
    const server = await serve(agent);
    const rules = await rulesOf(
      server.url,
      '--fixtures',
      'tck',
      '--only',
      'send,turn,stream,cancel,subscribe,in-task-auth',
    );
    const verdicts = (...ids: string[]): string[] => ids.map((id) => `${id} ${rules.get(id)?.verdict}`);
    const led = [
      'send.answers',
      'send.terminal-rejected',
      'send.message-context',
      'turn.goes-on',
      'stream.opens',
      'stream.chunks',
      'cancel.running',
      'subscribe.running',
      'in-task-auth.state',
    ];
    expect(verdicts(...led)).toEqual(led.map((id) => `${id} pass`));
    expect([...rules.values()].filter(({ status }) => status === 'fail')).toEqual([]);
    const open = [...rules.values()].filter(({ verdict }) => verdict === 'inconclusive');
    // The test compatibility kit has no message that fails or that is echoed.
    expect(open.every(({ message = '' }) => /"(?:failed|echo)"|Nothing came/.test(message))).toBe(true);
    await server.stop(0);
    await agent.close();
  });

  it('tests only the rules selected by --only and --level', async () => {
    const names = async (...args: string[]): Promise<string[]> => [
      ...(await rulesOf(right.url, '--fixtures', 'fx', ...args)).keys(),
    ];
    expect(await names('--only', 'get.known,get.unknown')).toEqual(['get.known', 'get.unknown']);
    const section = await rulesOf(right.url, '--fixtures', 'fx', '--only', '3.1.3');
    expect(section.size).toBeGreaterThan(1);
    for (const { section: each } of section.values()) expect(each).toMatch(/^3\.1\.3/);
    expect(await names('--only', 'CANC-003')).toEqual(['cancel.unknown']);
    const musts = await rulesOf(right.url, '--fixtures', 'fx', '--only', 'card', '--level', 'must');
    expect(new Set([...musts.values()].map(({ level }) => level))).toEqual(new Set(['MUST']));
  });

  it('fails with --baseline only on regressions', async () => {
    const wrong = await serveMutant({
      wire: () => ({
        response(answer, { operation }) {
          if (operation === 'GetTask') answer.json = { jsonrpc: '2.0', id: 1, result: {} };
        },
      }),
    });
    const few = ['--fixtures', 'fx', '--only', 'get', ...newest];
    await conformance(right.url, ...few, '--report', 'json=right.json');
    const worse = await conformance(
      wrong.url,
      ...few,
      '--baseline',
      'right.json',
      '--report',
      'json=wrong.json',
    );
    expect(worse.stderr).toMatch(/^regression +get\.known/m);
    expect(worse.code).toBe(1);
    expect((await conformance(wrong.url, ...few, '--baseline', 'wrong.json')).code).toBe(0);
    const fixed = await conformance(right.url, ...few, '--baseline', 'wrong.json');
    expect(fixed.stderr).toMatch(/^fixed +get\.known/m);
    expect(fixed.code).toBe(0);
    await wrong.close();
  });

  it('counts inconclusive rules as failures only with --strict', async () => {
    const few = ['--only', 'send.terminal-failed', ...newest];
    expect((await conformance(right.url, ...few)).code).toBe(0);
    expect((await conformance(right.url, ...few, '--strict')).code).toBe(1);
    expect((await conformance(right.url, ...few, '--strict', '--fixtures', 'fx')).code).toBe(0);
  });

  it.each([
    ['a directory that is none', ['--report', 'sarif', '--report-dir', 'taken/reports']],
    ['a file where a directory is', ['--report', 'sarif=.']],
  ])('writes the results to standard output with %s', async (_what, where) => {
    writeFileSync(join(folder, 'taken'), 'here is something else');
    const ended = await conformance(
      right.url,
      '--only',
      'get',
      ...newest,
      ...where,
      '--report',
      'junit=kept.xml',
    );
    expect(ended.stderr).toMatch(/^error: Cannot write /m);
    const last = ended.stdout.trim().split('\n').at(-1) ?? '';
    expect((JSON.parse(last) as ConformanceReport).agentName).toBe('Fixtures');
    expect(ended.code).toBe(2);
    expect(readFileSync(join(folder, 'kept.xml'), 'utf8')).toContain('<testsuites');
  });
});
