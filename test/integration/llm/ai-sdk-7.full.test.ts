import type * as aiSdk from 'ai';
import type * as aiSdkTest from 'ai/test';
import { it, vi } from 'vitest';
import { fromAiSdk } from '../../../src/llm/ai-sdk/from-ai-sdk.ts';
import { toAiSdkTools } from '../../../src/llm/ai-sdk/to-ai-sdk-tools.ts';
import { scriptedAiSdkStream, scriptedUsage } from '../../support/llm/ai-sdk-model.ts';
import { describeFramework } from '../../support/llm/framework-contract.ts';
import { installFramework } from '../../support/llm/install-framework.ts';

// The dev dependency is version 6, because version 7 does not support Node 20.
const installed = installFramework('ai-sdk-7', ['ai@7', 'zod@4']);

if (typeof installed === 'string') it.skip(`AI SDK 7 is not tested: ${installed}`);
else {
  const framework = installed;
  const ai = await framework.import<typeof aiSdk>('ai');
  const { MockLanguageModelV3 } = await framework.import<typeof aiSdkTest>('ai/test');
  vi.doMock('ai', () => ai);

  const lookup = ai.tool({
    description: 'Looks up a word',
    inputSchema: ai.jsonSchema<{ word: string }>({
      type: 'object',
      properties: { word: { type: 'string' } },
    }),
    execute: async () => 'found',
  });

  describeFramework('AI SDK 7', {
    usage: scriptedUsage,
    createProcess: (script) => {
      const model = new MockLanguageModelV3({
        doStream: async (call) => ({ stream: scriptedAiSdkStream(script, call) }),
      });
      return fromAiSdk(new ai.ToolLoopAgent({ model, tools: { lookup } }));
    },
    async runWithTools(script, agents, options = {}) {
      const model = new MockLanguageModelV3({
        doStream: async (call) => ({ stream: scriptedAiSdkStream(script, call) }),
      });
      const agent = new ai.ToolLoopAgent({ model, tools: await toAiSdkTools(agents, options.tools) });
      const result = await agent.stream({
        prompt: 'How is the weather?',
        ...(options.signal && { abortSignal: options.signal }),
      });
      return await result.text;
    },
  });
}
