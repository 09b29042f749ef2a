import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { collectStream, expectTask } from '../../../test/support/engine/conversation.ts';
import { connect } from '../../client/connect.ts';
import type { LogEntry } from '../../primitives/log.ts';
import { schemasExtension } from '../../protocol/card.ts';
import { serve } from '../../server/node/serve.ts';
import { status } from '../agent-output.ts';
import { defineAgent } from '../local-agent.ts';
import { defineSkill } from './define-skill.ts';

const add = defineSkill({
  id: 'add',
  description: 'Adds numbers',
  input: z.object({ items: z.array(z.object({ amount: z.number() })), rate: z.number().default(1) }),
  output: z.object({ sum: z.number() }),
  run: ({ items, rate }) => ({ sum: items.reduce((sum, { amount }) => sum + amount * rate, 0) }),
});

const calculator = () => defineAgent({ name: 'Calculator', description: 'Calculates', skills: [add] });

const items = [{ amount: 1 }, { amount: 2 }];

describe('a skill with schemas', () => {
  it('gets the parsed data of the message and returns data', async () => {
    const task = expectTask(await calculator().send({ data: { items } }));
    expect(task.artifacts).toMatchObject([{ parts: [{ data: { sum: 3 }, mediaType: 'application/json' }] }]);
    expect(task.status.state).toBe('completed');
  });

  it.each(['1.0', '0.3', '0.1'] as const)('works over HTTP with A2A %s', async (version) => {
    const server = await serve(calculator(), { port: 0 });
    const remote = connect(server.url, { versions: [version] });
    const task = expectTask(await remote.send({ data: { items, rate: 2 } }));
    expect(task.artifacts).toMatchObject([{ parts: [{ data: { sum: 6 } }] }]);
    await expect(remote.send({ data: { items: [{ amount: 'x' }] } })).rejects.toMatchObject({
      reason: 'INVALID_PARAMS',
      message: expect.stringContaining('items[0].amount'),
    });
    await remote.close();
    await server.stop();
  });

  it('rejects invalid data with the path of each violation, and creates no task', async () => {
    const agent = calculator();
    const request = { text: 'Add', data: { items: [{ amount: 1 }, { amount: 'two' }], rate: 'x' } };
    const violations = [
      { field: 'message.parts[1].data.items[1].amount', description: expect.stringContaining('number') },
      { field: 'message.parts[1].data.rate', description: expect.stringContaining('number') },
    ];
    await expect(agent.send(request)).rejects.toMatchObject({ reason: 'INVALID_PARAMS', violations });
    await expect(collectStream(agent.stream(request))).rejects.toMatchObject({ violations });
    expect((await agent.listTasks({})).tasks).toEqual([]);
  });

  it('rejects a message without data', async () => {
    await expect(calculator().send('add')).rejects.toMatchObject({
      reason: 'INVALID_PARAMS',
      message: 'message.parts must contain a data part for the skill add',
    });
  });

  it('fails the task and logs the reason if the output is invalid', async () => {
    const entries: LogEntry[] = [];
    const broken = defineSkill({
      id: 'broken',
      output: z.object({ sum: z.number() }),
      run: () => ({ sum: 'secret' }) as never,
    });
    const agent = defineAgent(
      { name: 'C', description: 'C', skills: [broken] },
      { log: (entry) => void entries.push(entry) },
    );
    const task = expectTask(await agent.send('x'));
    expect(task.status.state).toBe('failed');
    expect(task.artifacts ?? []).toEqual([]);
    expect(String(entries[0]?.error)).toMatch(
      /The skill broken returned invalid data: result\.sum: .*number/,
    );
  });

  it('lets a skill with schemas report progress and ask', async () => {
    const guess = defineSkill({
      id: 'guess',
      input: z.object({ max: z.number() }),
      output: z.object({ guess: z.string() }),
      async *run({ max }, context) {
        yield status('working', `Up to ${max}`);
        const answer = await context.ask('Which number?');
        return { guess: JSON.stringify(answer.parts[0]) };
      },
    });
    const agent = defineAgent({ name: 'G', description: 'G', skills: [guess] });
    const { id, status: asked } = expectTask(await agent.send({ data: { max: 9 } }));
    expect(asked.state).toBe('input-required');
    const task = expectTask(await agent.send({ text: '7', taskId: id }));
    expect(task.artifacts).toMatchObject([{ parts: [{ data: { guess: '{"text":"7"}' } }] }]);
    expect(JSON.stringify(task.history)).toContain('Up to 9');
  });

  it('calls the skill that a message names, and process for other messages', async () => {
    const double = defineSkill({ id: 'double', input: z.number(), run: (value) => value * 2 });
    const agent = defineAgent({
      name: 'C',
      description: 'C',
      skills: [add, double, { id: 'talk' }],
      process: ({ text }) => `Said: ${text}`,
    });
    const doubled = expectTask(await agent.send({ data: 4, metadata: { skillId: 'double' } }));
    expect(doubled.artifacts).toMatchObject([{ parts: [{ data: 8 }] }]);
    expect(expectTask(await agent.send('hi')).artifacts).toMatchObject([{ parts: [{ text: 'Said: hi' }] }]);
    await expect(agent.send({ data: 'x', metadata: { skill: 'double' } })).rejects.toMatchObject({
      violations: [{ field: 'message.parts[0].data' }],
    });
    const strict = defineAgent({ name: 'C', description: 'C', skills: [add, double] });
    await expect(strict.send('hi')).rejects.toThrow('message.metadata.skillId must be one of add, double');
  });

  it('calls process for a message that does not name a skill with security requirements', async () => {
    const guarded = { ...add, securityRequirements: [{ key: [] }] };
    const agent = defineAgent({ name: 'C', description: 'C', skills: [guarded], process: () => 'open' });
    expect(expectTask(await agent.send({ data: { items } })).artifacts).toMatchObject([
      { parts: [{ text: 'open' }] },
    ]);
  });

  it('shows its JSON Schemas in the card, and no functions', async () => {
    const card = await calculator().card();
    expect(card.skills).toEqual([
      {
        id: 'add',
        name: 'add',
        description: 'Adds numbers',
        tags: [],
        inputModes: ['application/json'],
        outputModes: ['application/json'],
      },
    ]);
    expect(card.capabilities.extensions?.slice(0, 1)).toMatchObject([
      {
        uri: schemasExtension,
        params: {
          skills: {
            add: {
              input_schema: { type: 'object', required: ['items'] },
              output_schema: { properties: { sum: { type: 'number' } } },
            },
          },
        },
      },
    ]);
  });

  it('works with a schema of any library, without a JSON Schema', async () => {
    const even = {
      '~standard': {
        version: 1 as const,
        vendor: 'own',
        validate: async (value: unknown) =>
          Number(value) % 2 === 0
            ? { value: Number(value) }
            : { issues: [{ message: 'must be even', path: [{ key: 'x' }, 'y', 0] }] },
      },
    };
    const half = defineSkill({ id: 'half', input: even, run: (value: number) => value / 2 });
    const agent = defineAgent({ name: 'H', description: 'H', skills: [half] });
    expect((await agent.card()).capabilities.extensions?.map(({ uri }) => uri)).not.toContain(
      schemasExtension,
    );
    expect(expectTask(await agent.send({ data: 8 })).artifacts).toMatchObject([{ parts: [{ data: 4 }] }]);
    await expect(agent.send({ data: 3 })).rejects.toThrow('message.parts[0].data.x.y[0]: must be even');
  });
});

it('rejects a definition without a process function, name or unique skill ids', () => {
  expect(() => defineAgent({ name: 'N', description: 'N', skills: [add, add] })).toThrow('different ids');
  expect(() => defineAgent({ description: 'N', process: () => 'x' } as never)).toThrow('name must be a text');
  expect(() => defineAgent({ name: 'N', description: 'N' })).toThrow(
    'process must be a function, unless a skill has run',
  );
});
