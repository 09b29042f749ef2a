/** MCP servers of the current and the previous protocol revision as agents. */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bridge } from '../../../src/bridge/index.ts';
import { mcpAgent } from '../../../src/bridge/mcp/client/mcp-agent.ts';
import { serveMcp } from '../../../src/bridge/mcp/server/serve-mcp.ts';
import { connect } from '../../../src/client/index.ts';
import type { Agent } from '../../../src/protocol/agent.ts';
import type { Message } from '../../../src/protocol/message.ts';
import { type Part, textOf } from '../../../src/protocol/part.ts';
import type { Task } from '../../../src/protocol/task.ts';
import { serve } from '../../../src/server/index.ts';
import { createMcpDemoAgent } from '../../support/bridge/mcp-demo-agent.ts';

const program = fileURLToPath(new URL('../../support/bridge/mcp-server.mjs', import.meta.url));

function buildMessage(skill: string | undefined, parts: Part[], more: Partial<Message> = {}): Message {
  const metadata = skill === undefined ? {} : { skill };
  return { messageId: crypto.randomUUID(), role: 'user', parts, metadata, ...more };
}

describe.each([
  { era: '2026-07-28', args: [program] },
  { era: '2025-11-25', args: [program, '--old'] },
])('mcpAgent with a server of MCP $era', ({ args }) => {
  let agent: Agent;

  beforeAll(async () => {
    agent = await mcpAgent({ command: process.execPath, args });
  });
  afterAll(async () => {
    await agent?.close?.();
  });

  async function send(skill: string | undefined, parts: Part[], more?: Partial<Message>): Promise<Task> {
    return (await agent.send({ message: buildMessage(skill, parts, more) })) as Task;
  }

  it('has one skill per tool, with its schemas', async () => {
    const card = await agent.card();
    expect(card).toMatchObject({ name: 'Workshop', version: '1.2.3' });
    expect(card.skills.map(({ id }) => id)).toEqual([
      'add',
      'greet',
      'show',
      'fail',
      'paint',
      'slow',
      'learn',
      'die',
    ]);
    expect(card.skills[1]).toMatchObject({ id: 'greet', name: 'Greet', tags: ['mcp'] });
    expect(card.capabilities.extensions).toMatchObject([
      {
        params: {
          skills: { add: { input_schema: { required: ['a', 'b'] }, output_schema: { type: 'object' } } },
        },
      },
    ]);
  });

  it('accepts arguments as data and returns structured content as data once', async () => {
    const task = await send('add', [{ data: { a: 2, b: 3 } }]);
    expect(task.status.state).toBe('completed');
    expect(task.artifacts).toMatchObject([{ name: 'add', parts: [{ data: { sum: 5 } }] }]);
    expect(task.artifacts?.[0]?.parts).toHaveLength(1);
  });

  it('accepts text for a tool with one parameter', async () => {
    const task = await send('greet', [{ text: 'Ada' }]);
    expect(task.artifacts?.[0]?.parts).toEqual([{ text: 'Hello Ada' }]);
  });

  it('rejects messages without a known skill or arguments and lists the alternatives', async () => {
    for (const [skill, parts, expected] of [
      [undefined, [{ text: 'hello' }], /Missing skill.*add, greet/],
      ['sing', [{ text: 'hello' }], /Unknown skill sing/],
      ['add', [{ text: '2 and 3' }], /data part with the arguments of the tool: a, b/],
    ] as [string | undefined, Part[], RegExp][]) {
      const { status } = await send(skill, parts);
      expect(status.state).toBe('rejected');
      expect(textOf(status.message?.parts ?? [])).toMatch(expected);
    }
  });

  it('converts every kind of content', async () => {
    const task = await send('show', [{ text: '' }]);
    expect(task.artifacts?.[0]?.parts).toEqual([
      { text: 'All kinds' },
      { raw: 'aW1n', mediaType: 'image/png' },
      { raw: 'YXVk', mediaType: 'audio/wav' },
      { text: 'a note', filename: 'note.txt', mediaType: 'text/plain' },
      { raw: 'YmI=', filename: 'b.bin', mediaType: 'application/octet-stream' },
      { url: 'https://example.com/c.pdf', filename: 'c.pdf', mediaType: 'application/pdf' },
    ]);
  });

  it('fails the task when the tool fails or its arguments are invalid', async () => {
    const failed = await send('fail', [{ text: '' }]);
    expect(failed.status).toMatchObject({ state: 'failed', message: { parts: [{ text: 'It is broken' }] } });
    const wrong = await send('add', [{ data: { a: 'two', b: 3 } }]);
    expect(wrong.status.state).toBe('failed');
    expect(textOf(wrong.status.message?.parts ?? [])).toMatch(/\ba\b/);
  });

  it('forwards elicitation as input-required and repeats it after an invalid response', async () => {
    const question = await send('paint', [{ text: '' }]);
    expect(question.status.state).toBe('input-required');
    expect(question.status.message?.parts[0]).toEqual({
      text: 'How?\n\n- color (string): color\n- size (integer): size',
    });
    expect(question.status.message?.parts[1]).toMatchObject({
      data: { requestedSchema: { required: ['color'] } },
    });
    const { id: taskId, contextId } = question;
    const again = await send(undefined, [{ text: 'nicely' }], { taskId, contextId });
    expect(again.status.state).toBe('input-required');
    expect(textOf(again.status.message?.parts ?? [])).toContain('color must be string');
    const done = await send(undefined, [{ data: { color: 'red', size: '3' } }], { taskId, contextId });
    expect(done.artifacts?.[0]?.parts).toEqual([{ text: 'Painted {"color":"red","size":3}' }]);
    const other = await send('paint', [{ text: '' }]);
    const declined = await send(undefined, [{ text: 'no' }], {
      taskId: other.id,
      contextId: other.contextId,
      metadata: { action: 'decline' },
    });
    expect(declined.artifacts?.[0]?.parts).toEqual([{ text: 'Left as it is: decline' }]);
  });

  it('streams progress and cancels the call', async () => {
    const states: string[] = [];
    for await (const event of agent.stream({ message: buildMessage('slow', [{ text: '' }]) })) {
      if (event.kind !== 'status') continue;
      states.push(`${event.status.state} ${textOf(event.status.message?.parts ?? [])}`.trim());
      if (event.status.message) await agent.cancelTask({ id: event.taskId });
    }
    expect(states).toEqual(['working', 'working at it', 'canceled']);
  });

  it('updates its skills when the tools change', async () => {
    await send('learn', [{ text: '' }]);
    // The server sends the notification asynchronously.
    await expect.poll(async () => (await agent.card()).skills.map(({ id }) => id)).toContain('trick');
    expect((await send('trick', [{ text: '' }])).artifacts?.[0]?.parts).toEqual([{ text: 'Done' }]);
  });

  it('restarts the server after it exited', async () => {
    expect((await send('die', [{ text: '' }])).status.state).toBe('failed');
    expect((await send('greet', [{ text: 'again' }])).artifacts?.[0]?.parts).toEqual([
      { text: 'Hello again' },
    ]);
  });
});

describe('round trip between MCP and A2A', () => {
  it('keeps the parameters of tools from MCP server to agent to actions', async () => {
    const agent = await mcpAgent({ command: process.execPath, args: [program] });
    const server = await serve(agent);
    const remote = connect(server.url);
    const actions = await bridge({ agentName: 'workshop', agent: remote });
    try {
      expect(actions.actions()[0]).toMatchObject({
        name: 'workshop/add',
        parameters: { required: ['a', 'b'] },
        output: { required: ['sum'] },
      });
      expect(await actions.invoke('workshop/add', { a: 20, b: 22 })).toMatchObject({
        status: 'COMPLETED',
        data: { sum: 42 },
      });
      const question = await actions.invoke('workshop/paint', {});
      expect(question).toMatchObject({ status: 'INPUT_REQUIRED', message: expect.stringContaining('How?') });
      const completed = await actions.invoke('provide_required_input', {
        follow_up_id: question.followUpId,
        user_response: '{"color":"blue"}',
      });
      expect(completed).toMatchObject({ status: 'COMPLETED', message: 'Painted {"color":"blue"}' });
    } finally {
      await actions.close();
      await remote.close();
      await server.stop(0);
      await agent.close?.();
    }
  });

  it('converts an agent to MCP over HTTP with a token and back', async () => {
    const { agent: inner } = createMcpDemoAgent();
    const actions = await bridge({ agentName: 'demo', agent: inner });
    const mcp = await serveMcp(actions, { http: { token: 'sesame' } });
    const headers = { authorization: 'Bearer sesame' };
    const agent = await mcpAgent({ url: mcp.url ?? '', headers });
    try {
      const message = buildMessage('demo_do', [{ text: 'hello' }]);
      const task = (await agent.send({ message })) as Task;
      expect(task.artifacts?.[0]?.parts).toMatchObject([
        { text: 'You said: hello' },
        { data: { status: 'COMPLETED', message: 'You said: hello' } },
      ]);
      const question = (await agent.send({ message: buildMessage('demo_do', [{ text: 'ask' }]) })) as Task;
      expect(question.status).toMatchObject({
        state: 'input-required',
        message: { parts: [{ text: 'demo asks: Which color?' }, {}] },
      });
      const { id: taskId, contextId } = question;
      const answer = buildMessage(undefined, [{ text: 'red' }], { taskId, contextId });
      const done = (await agent.send({ message: answer })) as Task;
      expect(done.artifacts?.[0]?.parts[0]).toEqual({ text: 'It is red.' });
      await expect(mcpAgent({ url: mcp.url ?? '' })).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
    } finally {
      await agent.close?.();
      await mcp.close();
      await actions.close();
      await inner.close();
    }
  });

  it('rejects with UNAVAILABLE and a hint when the server cannot be started', async () => {
    await expect(mcpAgent({ command: 'no-such-program-here' })).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
      message: 'Cannot connect to the MCP server no-such-program-here',
      hint: 'Check that "no-such-program-here" starts and uses MCP over stdio.',
    });
    await expect(mcpAgent({})).rejects.toMatchObject({ reason: expect.any(String) });
  });
});
