import { describe, expect, it } from 'vitest';
import { expectTask, userRequest } from '../../test/support/engine/conversation.ts';
import type { ProcessFunction } from '../engine/agent-definition.ts';
import { defineAgent } from '../engine/local-agent.ts';
import { fromAdk } from './adk/index.ts';
import { fromAiSdk } from './ai-sdk/index.ts';
import { fromLangChain } from './langchain/index.ts';
import { fromMastra } from './mastra/index.ts';
import { fromOpenAiAgents } from './openai-agents/index.ts';

describe('adapters of LLM frameworks', () => {
  it.each<[string, (source: never) => ProcessFunction, RegExp]>([
    ['fromAiSdk', fromAiSdk, /must be a function that calls streamText, or an agent of the AI SDK/],
    ['fromLangChain', fromLangChain, /must be a runnable of LangChain\.js/],
    ['fromOpenAiAgents', fromOpenAiAgents, /must be an agent of the OpenAI Agents SDK/],
    ['fromMastra', fromMastra, /must be an agent of Mastra/],
    ['fromAdk', fromAdk, /must be an agent of the Agent Development Kit/],
  ])('%s rejects a wrong argument when the agent is defined', (_name, adapter, message) => {
    for (const source of [undefined, null, {}, 'model'])
      expect(() => adapter(source as never)).toThrow(message);
  });

  it('fails the task and tells the author what the function must return', async () => {
    const errors: unknown[] = [];
    const agent = defineAgent(
      { name: 'Poet', description: 'Writes poems', process: fromAiSdk(() => ({ text: 'Roses' }) as never) },
      { log: ({ error }) => void errors.push(error) },
    );
    const task = expectTask(await agent.send(userRequest('A poem')));
    expect(task.status.state).toBe('failed');
    expect(String(errors)).toContain('The function must return the result of streamText');
  });
});
