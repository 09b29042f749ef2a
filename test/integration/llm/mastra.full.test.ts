import { it } from 'vitest';
import { fromMastra, type MastraAgent, toMastraTools } from '../../../src/llm/mastra/index.ts';
import { scriptedAiSdkStream, scriptedUsage } from '../../support/llm/ai-sdk-model.ts';
import { describeExample } from '../../support/llm/example-folder.ts';
import { describeFramework } from '../../support/llm/framework-contract.ts';
import { installFramework } from '../../support/llm/install-framework.ts';
import type { ScriptedTurns } from '../../support/llm/scripted-turns.ts';

const installed = installFramework('mastra', ['@mastra/core@1', 'zod@4']);

/** The parts of Mastra that the tests use; it is not installed in this repository. */
interface Mastra {
  Agent: new (
    options: object,
  ) => MastraAgent & {
    stream(messages: unknown, options: object): Promise<{ text: Promise<string> }>;
  };
}

if (typeof installed === 'string') it.skip(`Mastra is not tested: ${installed}`);
else {
  const { Agent } = await installed.import<Mastra>('@mastra/core/agent');

  /** A model of the specification that the AI SDK and Mastra share. */
  const modelOf = (script: ScriptedTurns): object => ({
    specificationVersion: 'v3',
    provider: 'test',
    modelId: 'scripted',
    supportedUrls: {},
    doStream: async (call: { prompt: unknown; tools?: unknown; abortSignal?: AbortSignal }) => ({
      stream: scriptedAiSdkStream(script, call),
    }),
  });

  const lookup = {
    id: 'lookup',
    description: 'Looks up a word',
    inputSchema: { type: 'object', properties: { word: { type: 'string' } } },
    execute: async () => 'found',
  };

  const agentOf = (script: ScriptedTurns, tools: object) =>
    new Agent({ id: 'poet', name: 'Poet', instructions: 'Write.', model: modelOf(script), tools });

  describeFramework('Mastra', {
    usage: scriptedUsage,
    createProcess: (script) => fromMastra(agentOf(script, { lookup })),
    async runWithTools(script, agents, options = {}) {
      const agent = agentOf(script, await toMastraTools(agents, options.tools));
      const result = await agent.stream('How is the weather?', { maxSteps: 5, abortSignal: options.signal });
      return await (result as { text: Promise<string> }).text;
    },
  });

  describeExample(
    installed,
    'mastra-agent.js',
    `export const model = {
      specificationVersion: 'v3',
      provider: 'test',
      modelId: 'mock',
      supportedUrls: {},
      doStream: async () => ({
        stream: ReadableStream.from([
          { type: 'stream-start', warnings: [] },
          { type: 'text-start', id: '1' },
          { type: 'text-delta', id: '1', delta: 'Roses are red.' },
          { type: 'text-end', id: '1' },
          {
            type: 'finish',
            finishReason: { unified: 'stop', raw: undefined },
            usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
          },
        ]),
      }),
    };`,
  );
}
