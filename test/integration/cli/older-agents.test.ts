import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import type { ProtocolVersion } from '../../../src/protocol/card.ts';
import { serve, type RunningServer } from '../../../src/server/node/serve.ts';
import { CliUser } from '../../support/cli/client-command.ts';

const user = new CliUser();
const servers = new Map<ProtocolVersion, RunningServer>();
const urlOf = (version: ProtocolVersion): string => servers.get(version)?.url ?? '';

beforeAll(async () => {
  for (const version of ['1.0', '0.3', '0.1'] as const) {
    const agent = defineAgent({
      name: 'Painter',
      description: 'Asks for a color',
      process: async ({ text, ask }) => {
        if (text !== 'paint') return `You said ${text}`;
        const [part] = (await ask('Which color?')).parts;
        return `Painted in ${part && 'text' in part ? part.text : 'no color'}`;
      },
    });
    servers.set(version, await serve(agent, version === '1.0' ? {} : { onlyVersion: version }));
  }
});
afterAll(async () => {
  for (const server of servers.values()) await server.stop(0);
  user.removeHome();
});

describe.each(['0.3', '0.1'] as const)('an agent that speaks only %s', (version) => {
  it('gets no message without consent, and the error says how to give it', async () => {
    const { code, stderr } = await user.runInProcess(['send', '-a', urlOf(version), 'hi']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: The agent offers A2A 0\.\d( or 0\.1)?, not 1\.0\n/);
    expect(stderr).toContain('--a2a-version auto');
    expect(stderr).toContain('A2ACLI_A2A_VERSION=auto');
  });

  it('answers with --a2a-version auto, also in a later command that was printed', async () => {
    const first = await user.runInProcess(['send', '-a', urlOf(version), '--a2a-version', 'auto', 'paint']);
    expect(first.stdout).toContain('Which color?');
    const [, command = ''] = /^Resume: dragoman (.*) "<reply>"$/m.exec(first.stdout) ?? [];
    expect(command).toContain(' --a2a-version auto');
    const second = await user.runInProcess([...command.split(' '), 'blue']);
    expect(second.stdout).toContain('Painted in blue');
  });

  it('answers with the variable A2ACLI_A2A_VERSION', async () => {
    const env = { A2ACLI_A2A_VERSION: 'auto' };
    const { stdout } = await user.runInProcess(['send', '-a', urlOf(version), 'hi'], { env });
    expect(stdout).toContain('You said hi');
  });

  it('shows its card without consent', async () => {
    const { code, stdout } = await user.runInProcess(['card', 'get', '-a', urlOf(version)]);
    expect([code, stdout]).toEqual([0, expect.stringContaining('Name: Painter')]);
  });
});

it('names the URL of the agent for a URL with a wrong path', async () => {
  const url = urlOf('1.0');
  const { code, stderr } = await user.runInProcess(['send', '-a', `${url}/wrong`, 'hi']);
  expect(code).toBe(3);
  expect(stderr).toContain(`error: No agent card found at ${url}/wrong\n`);
  expect(stderr).toContain(`pass -a ${url}.`);
});

it('does not send the placeholder of a printed command', async () => {
  const { code, stderr } = await user.runInProcess(['send', '-a', urlOf('1.0'), '<reply>']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('<reply> stands for your message')]);
});
