import { describe, expect, it } from 'vitest';
import type { LogEntry, ProcessFunction } from '../../../src/engine/agent-definition.ts';
import { defineAgent, type LocalAgent } from '../../../src/engine/local-agent.ts';
import type { AgentToolsOptions, ToolAgents } from '../../../src/llm/agent-tools.ts';
import { serve } from '../../../src/server/node/serve.ts';
import { connect } from '../../../src/client/connect.ts';
import { textOf } from '../../../src/protocol/part.ts';
import type { Message } from '../../../src/protocol/message.ts';
import { closeAfterEach } from '../close-after-each.ts';
import { artifactTexts, collectStream, expectTask, onlyTaskOf, userRequest } from '../engine/conversation.ts';
import { hang, ScriptedTurns } from './scripted-turns.ts';

/** An LLM framework with a scripted model. */
export interface LlmFramework {
  /** Makes a process function from an agent with the tool `lookup`, which returns `found`. */
  createProcess(model: ScriptedTurns): ProcessFunction;
  /** Runs an agent with the skills of A2A agents as tools. @returns its last text */
  runWithTools(
    model: ScriptedTurns,
    agents: ToolAgents,
    options?: { readonly signal?: AbortSignal; readonly tools?: AgentToolsOptions },
  ): Promise<string>;
  /** Tokens of each call of the scripted model. */
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
}

/** Describes what every adapter of an LLM framework does, in both directions. */
export function describeFramework(name: string, framework: LlmFramework): void {
  const open = closeAfterEach();

  function agentOf(model: ScriptedTurns, log: (entry: LogEntry) => void = () => {}): LocalAgent {
    const process = framework.createProcess(model);
    return defineAgent({ name: 'Poet', description: 'Writes poems', process }, { log });
  }

  describe(`${name}: agent from a model`, () => {
    it('streams text deltas as chunks', async () => {
      const agent = agentOf(new ScriptedTurns(['Roses ', 'are ', 'red.']));
      const events = await collectStream(agent.stream(userRequest('A poem')));
      const chunks = events.filter((event) => event.kind === 'artifact');
      expect(chunks.map(({ artifact }) => textOf(artifact.parts))).toEqual(['Roses ', 'are ', 'red.']);
      expect(events.at(-1)).toMatchObject({ kind: 'status', status: { state: 'completed' } });
    });

    it('reports tool calls as status updates and adds up the usage', async () => {
      const model = new ScriptedTurns([{ tool: 'lookup', input: { word: 'rose' } }], ['Roses.']);
      const agent = agentOf(model);
      const events = await collectStream(agent.stream(userRequest('A poem')));
      const reports = events.flatMap((event) =>
        event.kind === 'status' && event.status.message ? [textOf(event.status.message.parts)] : [],
      );
      expect(reports).toEqual(['Calling lookup']);
      expect(model.prompts[1]).toContain('found');
      const task = await agent.getTask({ id: await onlyTaskOf(agent) });
      expect(artifactTexts(task)).toEqual(['Roses.']);
      const { inputTokens, outputTokens } = framework.usage;
      expect(task.metadata).toMatchObject({
        usage: {
          inputTokens: 2 * inputTokens,
          outputTokens: 2 * outputTokens,
          totalTokens: 2 * (inputTokens + outputTokens),
        },
      });
    });

    it('passes the earlier turns of the context to the model', async () => {
      const model = new ScriptedTurns(['Nice to meet you.'], ['Your name is Ada.']);
      const agent = agentOf(model);
      const first = expectTask(await agent.send(userRequest('My name is Ada.')));
      await agent.send(userRequest('Who am I?', { contextId: first.contextId }));
      const [, prompt = ''] = model.prompts;
      const places = ['My name is Ada.', 'Nice to meet you.', 'Who am I?'].map((text) =>
        prompt.indexOf(text),
      );
      expect(places).toEqual(places.toSorted((a, b) => a - b));
      expect(places).not.toContain(-1);
    });

    it('aborts the model when the task is canceled', async () => {
      const model = new ScriptedTurns(['Once ', hang]);
      const agent = agentOf(model);
      for await (const event of agent.stream(userRequest('A story'))) if (event.kind === 'artifact') break;
      await model.hanging;
      const canceled = await agent.cancelTask({ id: await onlyTaskOf(agent) });
      await model.aborted;
      expect(canceled.status.state).toBe('canceled');
      expect(artifactTexts(canceled)).toEqual(['Once ']);
    });

    it('fails the task, keeps the text and logs the error if the model fails midway', async () => {
      const logged: LogEntry[] = [];
      const model = new ScriptedTurns(['Once upon', new Error('quota of key sk-123 exceeded')]);
      const task = expectTask(
        await agentOf(model, (entry) => void logged.push(entry)).send(userRequest('A story')),
      );
      expect(task.status.state).toBe('failed');
      expect(artifactTexts(task)).toEqual(['Once upon']);
      expect(JSON.stringify(task)).not.toContain('sk-123');
      const [{ error } = {}] = logged.filter(({ level }) => level === 'error');
      expect(String(error)).toContain('quota of key sk-123 exceeded');
    });
  });

  describe(`${name}: remote agents as tools`, () => {
    /** Serves a weather agent on a free port and connects to it. */
    async function connectWeather(process: ProcessFunction): Promise<ToolAgents> {
      const agent = defineAgent({
        name: 'Weather',
        description: 'Knows the weather',
        skills: [{ id: 'forecast', name: 'Forecast', description: 'Forecasts the weather', tags: [] }],
        process,
      });
      const server = await serve(agent, { port: 0 });
      open.push({ close: () => server.stop(0) });
      const remote = connect(server.url);
      open.push(remote);
      return remote;
    }

    it('calls a skill and gives its result to the model', async () => {
      const model = new ScriptedTurns(
        [{ tool: 'weather_forecast', input: { prompt: 'Oslo' } }],
        ['It is sunny.'],
      );
      const agents = await connectWeather(async ({ text }) => `Sunny in ${text}`);
      expect(await framework.runWithTools(model, agents)).toBe('It is sunny.');
      expect(model.prompts[0]).toContain('weather_forecast');
      expect(model.prompts[1]).toContain('Sunny in Oslo');
    });

    it('gives a question of the agent to the model and sends its answer to the same task', async () => {
      const asked: Message[] = [];
      const agents = await connectWeather(async ({ ask }) => {
        const answer = await ask('Which town?');
        asked.push(answer);
        return `Sunny in ${textOf(answer.parts)}`;
      });
      const model = new ScriptedTurns(
        [{ tool: 'weather_forecast', input: { prompt: 'weather' } }],
        (prompt) => {
          expect(prompt).toContain('Which town?');
          const [, taskId] = /task_id[\\"]*:[\\"]*([0-9a-f-]{36})/.exec(prompt) ?? [];
          return [{ tool: 'weather_reply', input: { task_id: taskId, message: 'Oslo' } }];
        },
        ['It is sunny.'],
      );
      expect(await framework.runWithTools(model, agents)).toBe('It is sunny.');
      expect(model.prompts[2]).toContain('Sunny in Oslo');
      expect(asked).toHaveLength(1);
    });

    it('cancels the task of the agent if the run is aborted', async () => {
      const abort = new AbortController();
      let onCancel = (): void => {};
      const canceled = new Promise<void>((resolve) => {
        onCancel = resolve;
      });
      const agents = await connectWeather(async ({ signal }) => {
        signal.addEventListener('abort', onCancel);
        abort.abort();
        await canceled;
      });
      const model = new ScriptedTurns(
        [{ tool: 'weather_forecast', input: { prompt: 'Oslo' } }],
        ['Stopped.'],
      );
      await framework.runWithTools(model, agents, { signal: abort.signal }).catch(() => {});
      await canceled;
    });

    it('rejects two agents with the same name', async () => {
      const agents = await Promise.all([connectWeather(() => ''), connectWeather(() => '')]);
      await expect(framework.runWithTools(new ScriptedTurns(), agents as never)).rejects.toThrow(
        /two are called weather/,
      );
    });
  });
}
