import { it, vi } from 'vitest';
import { fromAdk } from '../../../src/llm/adk/from-adk.ts';
import { toAdkTools } from '../../../src/llm/adk/to-adk-tools.ts';
import { describeExample } from '../../support/llm/example-folder.ts';
import { describeFramework } from '../../support/llm/framework-contract.ts';
import { installFramework } from '../../support/llm/install-framework.ts';
import type { ScriptedTurns } from '../../support/llm/scripted-turns.ts';

const installed = installFramework('adk', ['@google/adk@2']);

/** The parts of the ADK that the tests use; it is not installed in this repository. */
interface Adk {
  LlmAgent: new (options: object) => object;
  FunctionTool: new (options: object) => object;
  InMemoryRunner: new (
    options: object,
  ) => {
    appName: string;
    sessionService: { createSession(request: object): Promise<{ id: string }> };
    runAsync(params: object): AsyncIterable<{
      content?: { parts?: { text?: string }[] };
      partial?: boolean;
      errorMessage?: string;
    }>;
  };
  BaseLlm: abstract new (params: { model: string }) => object;
}

const usage = { inputTokens: 3, outputTokens: 5 };

if (typeof installed === 'string') it.skip(`Agent Development Kit is not tested: ${installed}`);
else {
  const adk = await installed.import<Adk>('@google/adk');
  vi.doMock('@google/adk', () => adk);

  class ScriptedLlm extends adk.BaseLlm {
    readonly #script: ScriptedTurns;

    constructor(script: ScriptedTurns) {
      super({ model: 'scripted' });
      this.#script = script;
    }

    async *generateContentAsync(
      { contents, config }: { contents: unknown; config?: { tools?: unknown } },
      _stream?: boolean,
      signal?: AbortSignal,
    ): AsyncGenerator<object> {
      const parts: object[] = [];
      let text = '';
      for await (const act of this.#script.play({ contents, tools: config?.tools }, signal)) {
        if (typeof act === 'string') {
          text += act;
          yield { content: { role: 'model', parts: [{ text: act }] }, partial: true };
        } else parts.push({ functionCall: { id: act.id, name: act.tool, args: act.input } });
      }
      if (text !== '') parts.unshift({ text });
      const { inputTokens, outputTokens } = usage;
      yield {
        content: { role: 'model', parts },
        partial: false,
        usageMetadata: {
          promptTokenCount: inputTokens,
          candidatesTokenCount: outputTokens,
          totalTokenCount: inputTokens + outputTokens,
        },
      };
    }
  }

  const lookup = new adk.FunctionTool({
    name: 'lookup',
    description: 'Looks up a word',
    execute: async () => 'found',
  });

  describeFramework('Agent Development Kit', {
    usage,
    createProcess: (script) =>
      fromAdk(new adk.LlmAgent({ name: 'poet', model: new ScriptedLlm(script), tools: [lookup] })),
    async runWithTools(script, agents, options = {}) {
      const tools = await toAdkTools(agents, options.tools);
      const agent = new adk.LlmAgent({ name: 'caller', model: new ScriptedLlm(script), tools });
      const runner = new adk.InMemoryRunner({ agent, appName: 'test' });
      const session = await runner.sessionService.createSession({ appName: 'test', userId: 'u' });
      let last = '';
      for await (const event of runner.runAsync({
        userId: 'u',
        sessionId: session.id,
        newMessage: { role: 'user', parts: [{ text: 'How is the weather?' }] },
        abortSignal: options.signal,
      })) {
        if (event.partial) continue;
        last = (event.content?.parts ?? []).map(({ text = '' }) => text).join('');
      }
      return last;
    },
  });

  describeExample(
    installed,
    'adk-agent.js',
    `import { BaseLlm } from '@google/adk';
    class MockLlm extends BaseLlm {
      async *generateContentAsync() {
        yield { content: { role: 'model', parts: [{ text: 'Roses are red.' }] } };
      }
    }
    export const model = new MockLlm({ model: 'mock' });`,
  );
}
