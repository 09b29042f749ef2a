import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testPair, type TestPairOptions } from '../../../src/conformance/interop/test-pair.ts';
import { runInteropMatrix } from '../../../src/conformance/interop/interop-matrix.ts';
import { formatMatrixPage } from '../../../src/conformance/report/matrix-page.ts';
import {
  startDelegating,
  startMixing,
  startOfficialDelegating,
  startPretending,
  startRefusing,
  startSilent,
} from '../../interop/delegating-agents.ts';
import { start13, type Started } from '../../interop/official-servers.ts';

const started = {
  ours: startDelegating,
  official: startOfficialDelegating,
  silent: startSilent,
  pretending: startPretending,
  refusing: startRefusing,
  mixing: startMixing,
  echo: start13,
};
const urls = {} as Record<keyof typeof started, string>;
const running: Started[] = [];

beforeAll(async () => {
  for (const [name, start] of Object.entries(started)) {
    const server = await start();
    running.push(server);
    urls[name as keyof typeof started] = server.url;
  }
});

afterAll(async () => {
  await Promise.all(running.map((each) => each.close()));
});

/** Returns the verdicts of the rules of delegation. */
async function directly(
  first: keyof typeof started,
  second: keyof typeof started,
  options: TestPairOptions = {},
): Promise<Record<string, string>> {
  const results = await testPair(urls[first], urls[second], { timeout: 5_000, ...options });
  const rules = ['first-asks-second', 'second-asks-first', 'concurrent-delegation'];
  return Object.fromEntries(
    rules.map((name) => {
      const result = results.find(({ rule }) => rule.id === `interop.${name}`);
      const { message = '', verdict = 'missing' } = result ?? {};
      return [name, message === '' ? verdict : `${verdict}: ${message}`];
    }),
  );
}

describe('delegation test (--delegate)', () => {
  it('passes in both directions with concurrent tasks, with our agent and one of the official SDK', async () => {
    expect(await directly('ours', 'official')).toEqual({
      'first-asks-second': 'pass',
      'second-asks-first': 'pass',
      'concurrent-delegation': 'pass',
    });
  });

  it('fails an agent that only echoes the prompt, even if its peer echoes too', async () => {
    expect((await directly('ours', 'echo'))['first-asks-second']).toBe('pass');
    expect((await directly('pretending', 'echo'))['first-asks-second']).toBe(
      'fail: Pretending returns the same response for an unreachable URL: it echoes the request and calls no agent',
    );
  });

  it('fails an agent that does not return the response of its peer', async () => {
    expect((await directly('refusing', 'ours'))['first-asks-second']).toMatch(
      /^fail: Refusing did not return the response of Ours/,
    );
  });

  it('fails an agent that mixes up concurrent delegated tasks', async () => {
    const found = await directly('mixing', 'echo');
    expect(found['first-asks-second']).toBe('pass');
    expect(found['concurrent-delegation']).toMatch(/^fail: /);
  });

  it('uses the prompt of --delegate for an agent without a delegation skill', async () => {
    const without = await directly('silent', 'echo');
    for (const each of Object.values(without)) expect(each).toMatch(/^not-applicable: .*--delegate/);
    const found = await directly('silent', 'echo', { delegate: 'Ask {url}: {text}' });
    expect(found).toMatchObject({ 'first-asks-second': 'pass', 'concurrent-delegation': 'pass' });
    expect(found['second-asks-first']).toMatch(/^not-applicable: Echo does not declare/);
    expect((await directly('silent', 'echo', { delegate: 'ask' }))['first-asks-second']).toBe('pass');
  });

  it('is inconclusive if the peer does not echo the marker', async () => {
    expect((await directly('ours', 'refusing'))['first-asks-second']).toMatch(/^inconclusive: Refusing/);
  });

  it('adds the delegation result to the matrix', async () => {
    const { agents, results } = await runInteropMatrix([urls.ours, urls.pretending], { timeout: 5_000 });
    expect(results.map(({ delegation }) => delegation?.verdict)).toEqual([
      undefined,
      'pass',
      'fail',
      undefined,
    ]);
    const page = formatMatrixPage(agents, results);
    expect(page).toContain('3 of 4');
    expect(page).toContain('✗ directly');
  });
});
