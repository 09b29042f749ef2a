import { describe, expect, it, vi } from 'vitest';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import {
  fromOpenAiAgents,
  type OpenAiAgent,
  type OpenAiAgentsRun,
} from '../../../src/llm/openai-agents/from-openai-agents.ts';
import { toOpenAiAgentsTools } from '../../../src/llm/openai-agents/to-openai-agents-tools.ts';
import { artifactTexts, expectTask, userRequest } from '../../support/engine/conversation.ts';
import { describeExample } from '../../support/llm/example-folder.ts';
import { describeFramework } from '../../support/llm/framework-contract.ts';
import { installFramework } from '../../support/llm/install-framework.ts';
import { ScriptedTurns } from '../../support/llm/scripted-turns.ts';

// Its library openai does not support Node 20, so it is not a dev dependency.
const installed = installFramework('openai-agents', ['@openai/agents@0.20', 'zod@4']);

/** The parts of the SDK that the tests use; it is not installed in this repository. */
interface OpenAiAgents {
  Agent: new (options: object) => OpenAiAgent;
  run(
    agent: object,
    input: unknown,
    options: { stream: true; signal?: AbortSignal; maxTurns?: number },
  ): Promise<OpenAiAgentsRun & { finalOutput: unknown }>;
  setTracingDisabled(isDisabled: boolean): void;
  tool(options: object): object;
}

interface OpenAiAgentsTesting {
  ScriptedModel: new (steps: unknown[]) => object;
  readonly modelStreamResponder: (
    respond: (call: {
      request: { input: unknown; tools: unknown; signal?: AbortSignal };
    }) => AsyncIterable<object>,
  ) => unknown;
}

const usage = { inputTokens: 3, outputTokens: 5 };

if (typeof installed === 'string') it.skip(`OpenAI Agents SDK is not tested: ${installed}`);
else {
  const framework = installed;
  const sdk = await framework.import<OpenAiAgents>('@openai/agents');
  const { ScriptedModel, modelStreamResponder } =
    await framework.import<OpenAiAgentsTesting>('@openai/agents/testing');
  vi.doMock('@openai/agents', () => sdk);
  sdk.setTracingDisabled(true);

  const modelOf = (script: ScriptedTurns): object => {
    const step = modelStreamResponder(({ request: { input, tools, signal } }) =>
      streamEvents(script, { input, tools }, signal),
    );
    // More steps than any script has turns.
    return new ScriptedModel(Array.from({ length: 10 }, () => step));
  };

  const lookup = sdk.tool({
    name: 'lookup',
    description: 'Looks up a word',
    parameters: {
      type: 'object',
      properties: { word: { type: 'string' } },
      required: [],
      additionalProperties: true,
    },
    strict: false,
    execute: async () => 'found',
  });

  describeFramework('OpenAI Agents SDK', {
    usage,
    createProcess: (script) =>
      fromOpenAiAgents(new sdk.Agent({ name: 'Poet', model: modelOf(script), tools: [lookup] })),
    async runWithTools(script, agents, options = {}) {
      const tools = await toOpenAiAgentsTools(agents, options.tools);
      const agent = new sdk.Agent({ name: 'Caller', model: modelOf(script), tools });
      const result = await sdk.run(agent, 'How is the weather?', {
        stream: true,
        ...(options.signal && { signal: options.signal }),
      });
      await result.completed;
      return String(result.finalOutput);
    },
  });

  describeExample(
    framework,
    'openai-agent.js',
    `import { setTracingDisabled } from '@openai/agents';
    import { assistantMessage, ScriptedModel } from '@openai/agents/testing';
    setTracingDisabled(true);
    export const model = new ScriptedModel([[assistantMessage('Roses are red.')]]);`,
  );

  describe('fromOpenAiAgents', () => {
    it('accepts a function that starts the run', async () => {
      const agent = new sdk.Agent({ name: 'Poet', model: modelOf(new ScriptedTurns(['Roses'])) });
      const poet = defineAgent({
        name: 'Poet',
        description: 'Writes poems',
        process: fromOpenAiAgents(({ input, signal }) =>
          sdk.run(agent, input, { stream: true, signal, maxTurns: 3 }),
        ),
      });
      expect(artifactTexts(expectTask(await poet.send(userRequest('A poem'))))).toEqual(['Roses']);
    });
  });
}

async function* streamEvents(
  script: ScriptedTurns,
  prompt: object,
  signal: AbortSignal | undefined,
): AsyncGenerator<object> {
  let text = '';
  const calls: object[] = [];
  yield { type: 'response_started' };
  for await (const act of script.play(prompt, signal)) {
    if (typeof act === 'string') {
      text += act;
      yield { type: 'output_text_delta', delta: act };
    } else
      calls.push({
        type: 'function_call',
        callId: act.id,
        name: act.tool,
        status: 'completed',
        arguments: JSON.stringify(act.input),
      });
  }
  const message = {
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text }],
  };
  yield {
    type: 'response_done',
    response: {
      id: 'r',
      usage: { ...usage, totalTokens: usage.inputTokens + usage.outputTokens },
      output: text === '' ? calls : [message, ...calls],
    },
  };
}
