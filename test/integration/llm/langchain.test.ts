import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessageChunk, type BaseMessage } from '@langchain/core/messages';
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs';
import { tool } from '@langchain/core/tools';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { Annotation, END, interrupt, MemorySaver, START, StateGraph } from '@langchain/langgraph';
import { createAgent } from 'langchain';
import { describe, expect, it } from 'vitest';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { fromLangChain, toLangChainTools } from '../../../src/llm/langchain/index.ts';
import { artifactTexts, expectTask, statusTextOf, userRequest } from '../../support/engine/conversation.ts';
import { describeFramework } from '../../support/llm/framework-contract.ts';
import { ScriptedTurns } from '../../support/llm/scripted-turns.ts';

const usage = { inputTokens: 3, outputTokens: 5 };

class ScriptedChatModel extends BaseChatModel {
  readonly #script: ScriptedTurns;
  #tools: unknown[] = [];

  constructor(script: ScriptedTurns) {
    super({});
    this.#script = script;
  }

  _llmType(): string {
    return 'scripted';
  }

  override bindTools(tools: unknown[]): this {
    this.#tools = tools;
    return this;
  }

  override async _generate(messages: BaseMessage[], options: this['ParsedCallOptions']): Promise<ChatResult> {
    const chunks: ChatGenerationChunk[] = [];
    for await (const chunk of this._streamResponseChunks(messages, options)) chunks.push(chunk);
    return { generations: [chunks.reduce((all, chunk) => all.concat(chunk))] };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this['ParsedCallOptions'],
    manager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const tools = (this.#tools as { name: string }[]).map(({ name }) => name);
    for await (const act of this.#script.play({ messages, tools }, options.signal)) {
      const message = new AIMessageChunk(
        typeof act === 'string'
          ? { content: act }
          : {
              content: '',
              tool_call_chunks: [{ id: act.id, name: act.tool, args: JSON.stringify(act.input), index: 0 }],
            },
      );
      const text = typeof act === 'string' ? act : '';
      yield new ChatGenerationChunk({ message, text });
      await manager?.handleLLMNewToken(text);
    }
    const total = usage.inputTokens + usage.outputTokens;
    yield new ChatGenerationChunk({
      text: '',
      message: new AIMessageChunk({
        content: '',
        usage_metadata: {
          input_tokens: usage.inputTokens,
          output_tokens: usage.outputTokens,
          total_tokens: total,
        },
      }),
    });
  }
}

const lookup = tool(async () => 'found', {
  name: 'lookup',
  description: 'Looks up a word',
  schema: { type: 'object', properties: { word: { type: 'string' } } },
});

describeFramework('LangGraph.js', {
  usage,
  createProcess: (script) =>
    fromLangChain(createAgent({ model: new ScriptedChatModel(script), tools: [lookup] })),
  async runWithTools(script, agents, options = {}) {
    const tools = await toLangChainTools(agents, options.tools);
    const agent = createAgent({ model: new ScriptedChatModel(script), tools });
    const { messages } = await agent.invoke(
      { messages: [{ role: 'user', content: 'How is the weather?' }] },
      options.signal ? { signal: options.signal } : {},
    );
    return messages.at(-1)?.text ?? '';
  },
});

describe('fromLangChain', () => {
  it('streams a chat model', async () => {
    const agent = defineAgent({
      name: 'Poet',
      description: 'Writes poems',
      process: fromLangChain(new FakeListChatModel({ responses: ['Roses'] })),
    });
    const task = expectTask(await agent.send(userRequest('A poem')));
    expect(artifactTexts(task)).toEqual(['Roses']);
    expect(task.artifacts?.[0]?.parts.length).toBeGreaterThanOrEqual(1);
  });

  it('asks the client at an interrupt of a graph and resumes with the reply', async () => {
    const state = Annotation.Root({ messages: Annotation<unknown[]>, town: Annotation<string> });
    const graph = new StateGraph(state)
      .addNode('ask', () => ({ town: interrupt<string, string>('Which town?') }))
      .addNode('answer', async ({ town }) => ({
        messages: [await new FakeListChatModel({ responses: [`Sunny in ${town}`] }).invoke('x')],
      }))
      .addEdge(START, 'ask')
      .addEdge('ask', 'answer')
      .addEdge('answer', END)
      .compile({ checkpointer: new MemorySaver() });
    const agent = defineAgent({
      name: 'Weather',
      description: 'Knows the weather',
      process: fromLangChain(graph),
    });
    const question = expectTask(await agent.send(userRequest('weather')));
    expect(question.status.state).toBe('input-required');
    expect(statusTextOf(question)).toBe('Which town?');
    const { id: taskId, contextId } = question;
    const done = expectTask(await agent.send(userRequest('Oslo', { taskId, contextId })));
    expect(done.status.state).toBe('completed');
    expect(artifactTexts(done)).toEqual(['Sunny in Oslo']);
  });

  it('keeps the threads of two clients apart, even in contexts with the same id', async () => {
    const model = new ScriptedTurns(['Hello Ada.'], ['I do not know you.'], ['You are Ada.']);
    const agent = defineAgent({
      name: 'Friend',
      description: 'Knows you',
      process: fromLangChain(
        createAgent({ model: new ScriptedChatModel(model), tools: [], checkpointer: new MemorySaver() }),
      ),
    });
    await agent.send(userRequest('I am Ada', { contextId: 'c' }), { owner: 'ada' });
    await agent.send(userRequest('Who am I?', { contextId: 'c' }), { owner: 'bob' });
    await agent.send(userRequest('Who am I?', { contextId: 'c' }), { owner: 'ada' });
    expect(model.prompts[1]).not.toContain('I am Ada');
    expect(model.prompts[2]).toContain('I am Ada');
  });
});
