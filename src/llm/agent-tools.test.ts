import { describe, expect, it } from 'vitest';
import { onlyTaskOf } from '../../test/support/engine/conversation.ts';
import type { AgentDefinition } from '../engine/agent-definition.ts';
import { defineAgent, type LocalAgent } from '../engine/local-agent.ts';
import { textOf } from '../protocol/part.ts';
import { type AgentTool, createAgentTools } from './agent-tools.ts';

const skill = { id: 'forecast', name: 'Forecast', description: 'Forecasts the weather', tags: [] };

function weather(definition: Partial<AgentDefinition> = {}): LocalAgent {
  return defineAgent({
    name: 'Weather Agent',
    description: 'Knows the weather',
    skills: [skill],
    process: async ({ text }) => `Sunny in ${text}`,
    ...definition,
  });
}

function toolOf(tools: readonly AgentTool[], name: string): AgentTool {
  const found = tools.find((tool) => tool.name === name);
  if (!found) throw new Error(`no tool ${name} in ${tools.map((tool) => tool.name).join(', ')}`);
  return found;
}

describe('createAgentTools', () => {
  it('makes a tool of each skill and a reply tool of each agent, with names that model APIs accept', async () => {
    const skills = [
      skill,
      { ...skill, id: 'a/b.c d' },
      { ...skill, id: 'ü'.repeat(100) },
      { ...skill, id: 'reply' },
      { ...skill, id: 'x'.repeat(200) },
    ];
    const tools = await createAgentTools(weather({ skills }));
    const names = tools.map(({ name }) => name);
    expect(names).toContain('weather_agent_forecast');
    expect(names).toHaveLength(skills.length + 1);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  });

  it('limits descriptions to what model APIs accept', async () => {
    const [tool] = await createAgentTools(
      weather({ skills: [{ ...skill, description: 'x'.repeat(5_000) }] }),
    );
    expect(tool?.description.length).toBeLessThanOrEqual(1_024);
  });

  it('calls the agent and returns its text, task and context', async () => {
    const agent = weather();
    const tools = await createAgentTools(agent);
    const result = await toolOf(tools, 'weather_agent_forecast').call({ prompt: 'Oslo' });
    expect(result).toMatchObject({ status: 'COMPLETED', message: 'Sunny in Oslo' });
    expect(result.task_id).toBe(await onlyTaskOf(agent));
    expect(result.hint).toBeUndefined();
  });

  it('returns a question of the agent, and answers it by the id of the task', async () => {
    const agent = weather({
      process: async ({ ask }) => `Sunny in ${textOf((await ask('Which town?')).parts)}`,
    });
    const tools = await createAgentTools(agent);
    const question = await toolOf(tools, 'weather_agent_forecast').call({ prompt: 'weather' });
    expect(question).toMatchObject({ status: 'INPUT_REQUIRED', message: 'Which town?' });
    expect(question.hint).toBe(
      `Call the tool weather_agent_reply with task_id "${question.task_id}" and the required input as message.`,
    );
    const answer = await toolOf(tools, 'weather_agent_reply').call({
      task_id: question.task_id,
      context_id: question.context_id,
      message: 'Oslo',
    });
    expect(answer).toMatchObject({
      status: 'COMPLETED',
      message: 'Sunny in Oslo',
      task_id: question.task_id,
    });
  });

  it('answers with tools that were created later, because the ids are in the result', async () => {
    const agent = weather({ process: async ({ ask }) => textOf((await ask('Which town?')).parts) });
    const question = await toolOf(await createAgentTools(agent), 'weather_agent_forecast').call({
      prompt: 'x',
    });
    const later = toolOf(await createAgentTools(agent), 'weather_agent_reply');
    expect(await later.call({ task_id: question.task_id, message: 'Oslo' })).toMatchObject({
      status: 'COMPLETED',
      message: 'Oslo',
    });
  });

  it('continues a conversation by the id of the context', async () => {
    const contexts: string[] = [];
    const agent = weather({
      process: async ({ contextId }) => {
        contexts.push(contextId);
        return 'ok';
      },
    });
    const tools = await createAgentTools(agent);
    const first = await toolOf(tools, 'weather_agent_forecast').call({ prompt: 'Oslo' });
    const next = await toolOf(tools, 'weather_agent_reply').call({
      task_id: '',
      context_id: first.context_id,
      message: 'and Lima?',
    });
    expect(next.status).toBe('COMPLETED');
    expect(contexts).toEqual([first.context_id, first.context_id]);
  });

  it('returns a running task after the wait budget, and waits for it with an empty message', async () => {
    let finish = (_text: string): void => {};
    const result = new Promise<string>((resolve) => {
      finish = resolve;
    });
    const tools = await createAgentTools(weather({ process: () => result }), { waitBudget: 20 });
    const running = await toolOf(tools, 'weather_agent_forecast').call({ prompt: 'Oslo' });
    expect(running).toMatchObject({ status: 'RUNNING' });
    expect(running.hint).toContain('an empty message to keep waiting');
    finish('Sunny');
    const done = await toolOf(tools, 'weather_agent_reply').call({ task_id: running.task_id, message: '' });
    expect(done).toMatchObject({ status: 'COMPLETED', message: 'Sunny' });
  });

  it.each([
    ['no id', { message: 'Oslo' }, 'ERROR', /taskId is required/],
    ['an unknown task', { task_id: 'nope', message: 'Oslo' }, 'ERROR', /not found/i],
    ['no arguments', undefined, 'ERROR', /taskId is required/],
  ])('returns an error for a reply with %s', async (_what, input, status, message) => {
    const tools = await createAgentTools(weather());
    const result = await toolOf(tools, 'weather_agent_reply').call(input);
    expect(result.status).toBe(status);
    expect(result.message).toMatch(message);
  });

  it('returns an error with the parameter that is missing', async () => {
    const tools = await createAgentTools(weather());
    const result = await toolOf(tools, 'weather_agent_forecast').call({});
    expect(result).toMatchObject({ status: 'ERROR', message: expect.stringContaining('prompt') as string });
  });

  it('cancels the task if the call is aborted', async () => {
    let onStart = (): void => {};
    const started = new Promise<void>((resolve) => {
      onStart = resolve;
    });
    const agent = weather({
      process: async ({ signal }) => {
        onStart();
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      },
    });
    const tools = await createAgentTools(agent);
    const abort = new AbortController();
    const call = toolOf(tools, 'weather_agent_forecast').call({ prompt: 'Oslo' }, { signal: abort.signal });
    await started;
    abort.abort();
    expect(await call).toMatchObject({ status: 'CANCELED' });
    const task = await agent.getTask({ id: await onlyTaskOf(agent) });
    expect(task.status.state).toBe('canceled');
  });

  it('prefixes the tools with the names that the caller gives', async () => {
    const tools = await createAgentTools({ north: weather(), south: weather() });
    expect(tools.map(({ name }) => name)).toEqual([
      'north_forecast',
      'south_forecast',
      'north_reply',
      'south_reply',
    ]);
  });

  it('rejects two agents with the same name and tells how to name them', async () => {
    await expect(createAgentTools([weather(), weather()])).rejects.toThrow(
      /two are called weather_agent; name them yourself, as in \{ first: agent, second: agent \}/,
    );
  });

  it.each([
    ['a URL', 'http://localhost:4000'],
    ['nothing', undefined],
    ['a list of URLs', ['http://localhost:4000']],
    ['a card', { name: 'Weather', skills: [] }],
  ])('rejects %s instead of an agent', async (_what, agents) => {
    await expect(createAgentTools(agents as never)).rejects.toMatchObject({
      reason: 'INVALID_PARAMS',
      message: expect.stringContaining('must be an agent, such as connect(url)') as string,
    });
  });

  it('reports progress with the name of the tool', async () => {
    const seen: string[] = [];
    const agent = weather({
      process: async function* () {
        yield { state: 'working', message: 'Looking' };
        yield 'Sunny';
      },
    });
    const tools = await createAgentTools(agent, {
      onProgress: ({ message }, tool) => void seen.push(`${tool}: ${message}`),
    });
    await toolOf(tools, 'weather_agent_forecast').call({ prompt: 'Oslo' });
    expect(seen).toContain('weather_agent_forecast: Looking');
  });
});
