import {
  generateText,
  jsonSchema,
  type LanguageModel,
  stepCountIs,
  streamText,
  tool,
  ToolLoopAgent,
} from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { fromAiSdk, toAiSdkTools } from '../../../src/llm/ai-sdk/index.ts';
import { artifactTexts, expectTask, userRequest } from '../../support/engine/conversation.ts';
import { scriptedAiSdkStream, scriptedUsage } from '../../support/llm/ai-sdk-model.ts';
import { describeFramework, type LlmFramework } from '../../support/llm/framework-contract.ts';
import { ScriptedTurns } from '../../support/llm/scripted-turns.ts';

function mockModel(script: ScriptedTurns): LanguageModel {
  return new MockLanguageModelV3({
    doStream: async (call) => ({ stream: scriptedAiSdkStream(script, call) }),
  });
}

const lookup = tool({
  description: 'Looks up a word',
  inputSchema: jsonSchema<{ word: string }>({ type: 'object', properties: { word: { type: 'string' } } }),
  execute: async () => 'found',
});

const runWithTools: LlmFramework['runWithTools'] = async (script, agents, options = {}) => {
  const result = streamText({
    model: mockModel(script),
    tools: await toAiSdkTools(agents, options.tools),
    prompt: 'How is the weather?',
    stopWhen: stepCountIs(5),
    onError: () => {},
    ...(options.signal && { abortSignal: options.signal }),
  });
  return await result.text;
};

describeFramework('AI SDK with ToolLoopAgent', {
  usage: scriptedUsage,
  createProcess: (script) => fromAiSdk(new ToolLoopAgent({ model: mockModel(script), tools: { lookup } })),
  runWithTools,
});

describeFramework('AI SDK with streamText', {
  usage: scriptedUsage,
  createProcess: (script) =>
    fromAiSdk((call) =>
      streamText({
        model: mockModel(script),
        tools: { lookup },
        stopWhen: stepCountIs(5),
        onError: () => {},
        ...call,
      }),
    ),
  runWithTools,
});

describe('fromAiSdk', () => {
  it('gives the process context to the function', async () => {
    const script = new ScriptedTurns(['ok']);
    const agent = defineAgent({
      name: 'Poet',
      description: 'Writes poems',
      process: fromAiSdk((call, { contextId }) =>
        streamText({ model: mockModel(script), system: `Context ${contextId}`, ...call }),
      ),
    });
    const task = expectTask(await agent.send(userRequest('hello', { contextId: 'c-17' })));
    expect(artifactTexts(task)).toEqual(['ok']);
    expect(script.prompts[0]).toContain('Context c-17');
  });

  it('fails the task with a remedy if a tool needs an approval', async () => {
    const errors: unknown[] = [];
    const script = new ScriptedTurns([{ tool: 'remove', input: {} }]);
    const remove = tool({
      inputSchema: jsonSchema<object>({ type: 'object' }),
      needsApproval: true,
      execute: async () => 'removed',
    });
    const agent = defineAgent(
      {
        name: 'Remover',
        description: 'Removes',
        process: fromAiSdk(new ToolLoopAgent({ model: mockModel(script), tools: { remove } })),
      },
      { log: ({ error }) => void errors.push(error) },
    );
    const task = expectTask(await agent.send(userRequest('hello')));
    expect(task.status.state).toBe('failed');
    expect(errors).toMatchObject([
      {
        message: 'The tool remove needs an approval, which clients cannot give',
        hint: expect.stringContaining('ask()') as string,
      },
    ]);
  });
});

describe('toAiSdkTools', () => {
  afterEach(() => {
    vi.doUnmock('ai');
    vi.resetModules();
  });

  it('works with generateText', async () => {
    const agent = defineAgent({
      name: 'Weather',
      description: 'Knows the weather',
      skills: [{ id: 'forecast' }],
      process: async ({ text }) => `Sunny in ${text}`,
    });
    const calls: string[] = [];
    const { text } = await generateText({
      model: new MockLanguageModelV3({
        doGenerate: async ({ prompt }) => {
          calls.push(JSON.stringify(prompt));
          const isFirst = calls.length === 1;
          return {
            content: isFirst
              ? [
                  {
                    type: 'tool-call',
                    toolCallId: '1',
                    toolName: 'weather_forecast',
                    input: '{"prompt":"Oslo"}',
                  },
                ]
              : [{ type: 'text', text: 'It is sunny.' }],
            finishReason: { unified: isFirst ? 'tool-calls' : 'stop', raw: undefined },
            usage: {
              inputTokens: { total: 1, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
              outputTokens: { total: 1, text: undefined, reasoning: undefined },
            },
            warnings: [],
          };
        },
      }),
      tools: await toAiSdkTools(agent),
      prompt: 'How is the weather?',
      stopWhen: stepCountIs(3),
    });
    expect(text).toBe('It is sunny.');
    expect(calls[1]).toContain('Sunny in Oslo');
  });

  it('names the command that installs ai if it is missing', async () => {
    vi.resetModules();
    vi.doMock('ai', () => {
      throw Object.assign(new Error("Cannot find package 'ai'"), { code: 'ERR_MODULE_NOT_FOUND' });
    });
    const { toAiSdkTools: load } = await import('../../../src/llm/ai-sdk/index.ts');
    await expect(load({})).rejects.toMatchObject({ reason: 'UNAVAILABLE', hint: 'Run: npm install ai' });
  });
});
