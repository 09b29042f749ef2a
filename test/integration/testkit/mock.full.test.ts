import { describe, expect, it } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import { greetingScript, useMockCommands } from '../../support/testkit/mock-command.ts';

const mock = useMockCommands();

describe('dragoman mock', () => {
  it('prints one line of JSON with -o json', async () => {
    const started = mock.run([mock.write('json.yaml', greetingScript('hi')), '-o', 'json']);
    const [document = ''] = await started.prints(/^.*\n$/);
    const { url, card, admin, rules } = JSON.parse(document) as { [name: string]: string };
    expect({ card, admin, rules }).toEqual({
      card: `${url}/.well-known/agent-card.json`,
      admin: `${url}/__admin`,
      rules: 1,
    });
  });

  it('advances a virtual clock over the admin API', async () => {
    const waiting = 'rules:\n  - then: [{ wait: 10m }, { complete: late }]\n';
    const agent = await mock.start([mock.write('c.yaml', waiting), '--clock', 'virtual', '--seed', '7']);
    expect(await connect(agent.url).send('hello')).toMatchObject({ status: { state: 'completed' } });
  });

  it('follows message directives without a script', async () => {
    const agent = await mock.start([]);
    await agent.prints(/rules.*none/);
    const primed = await fetch(`${agent.url}/__admin/prime`, {
      method: 'POST',
      body: JSON.stringify([{ kind: 'task', status: { state: 'completed' } }]),
    });
    expect(await primed.json()).toEqual({ primed: 1 });
    expect(await connect(agent.url).send('hello')).toMatchObject({ status: { state: 'completed' } });
    expect((await agent.stop('SIGINT')).code).toBe(0);
  });
});
