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

/** What became of the rules about asking directly. */
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

describe('an agent that can ask others', () => {
  it('does so in both directions and for several tasks at once, ours and the official one', async () => {
    expect(await directly('ours', 'official')).toEqual({
      'first-asks-second': 'pass',
      'second-asks-first': 'pass',
      'concurrent-delegation': 'pass',
    });
  });

  it('is told from one that only repeats, even when the other agent only repeats as well', async () => {
    expect((await directly('ours', 'echo'))['first-asks-second']).toBe('pass');
    expect((await directly('pretending', 'echo'))['first-asks-second']).toBe(
      'fail: Pretending gives the same answer when nobody is at the address: it repeats the words and asks nobody',
    );
  });

  it('is caught when the answer of the other does not come back', async () => {
    expect((await directly('refusing', 'ours'))['first-asks-second']).toMatch(
      /^fail: Refusing was asked to ask Ours, and the answer of it did not come back/,
    );
  });

  it('is caught when it mixes up tasks that it hands on at the same time', async () => {
    const found = await directly('mixing', 'echo');
    expect(found['first-asks-second']).toBe('pass');
    expect(found['concurrent-delegation']).toMatch(/^fail: /);
  });

  it('is asked with the words that the person names, and its card need not say so', async () => {
    const without = await directly('silent', 'echo');
    for (const each of Object.values(without)) expect(each).toMatch(/^not-applicable: .*--delegate/);
    const found = await directly('silent', 'echo', { delegate: 'Ask {url}: {text}' });
    expect(found).toMatchObject({ 'first-asks-second': 'pass', 'concurrent-delegation': 'pass' });
    expect(found['second-asks-first']).toMatch(/^not-applicable: Echo does not say/);
    expect((await directly('silent', 'echo', { delegate: 'ask' }))['first-asks-second']).toBe('pass');
  });

  it('says that nothing can be learned when the other does not repeat anything', async () => {
    expect((await directly('ours', 'refusing'))['first-asks-second']).toMatch(/^inconclusive: Refusing/);
  });

  it('is shown in the matrix', async () => {
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
