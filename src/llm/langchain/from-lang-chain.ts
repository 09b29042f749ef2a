import type { AgentOutput } from '../../engine/agent-output.ts';
import type { ProcessFunction } from '../../engine/agent-definition.ts';
import type { ProcessContext } from '../../engine/process-context.ts';
import { compositeKey } from '../../primitives/composite-key.ts';
import { asJsonObject } from '../../primitives/json.ts';
import { loadLibrary } from '../../protocol/optional/load-library.ts';
import { checkSource } from '../check-source.ts';
import type { ModelEvent } from '../model-event.ts';
import { type ModelMessage, toModelMessages } from '../model-messages.ts';
import { type ModelRunOptions, runModel } from '../run-model.ts';

/** The part of a runnable of LangChain.js or of a graph of LangGraph.js that is used. */
export interface LangChainRunnable {
  // oxlint-disable-next-line typescript/no-explicit-any -- every runnable has its own types of input and options
  streamEvents(input: any, options: any): AsyncIterable<LangChainEvent>;
}

/** The fields of an event of `streamEvents` (version 2) that are read. */
export interface LangChainEvent {
  readonly event: string;
  readonly name: string;
  readonly run_id: string;
  readonly tags?: string[] | undefined;
  readonly metadata?: { readonly [key: string]: unknown };
  readonly data: { readonly input?: unknown; readonly output?: unknown; readonly chunk?: unknown };
}

/** Options of {@link fromLangChain}. */
export interface LangChainRunOptions extends ModelRunOptions {
  /**
   * Converts the conversation to the input of the runnable.
   * @defaultValue the list of messages for a chat model, `{ messages }` for all others
   */
  readonly toInput?: (messages: ModelMessage[], context: ProcessContext) => unknown;
  /**
   * Selects the model calls whose text clients receive, for example by `metadata.langgraph_node`.
   * @defaultValue all, except those with the tag `nostream` or `langsmith:nostream`
   */
  readonly isOutput?: (event: LangChainEvent) => boolean;
}

/**
 * Makes a process function from a runnable of LangChain.js: a chat model, a chain, an agent of `createAgent`, or a graph of
 * LangGraph.js. Without a checkpointer, earlier turns of the context are part of the messages. A graph with a
 * checkpointer keeps them itself, in one thread per client and context; `interrupt()` then asks the client for input, and
 * its reply resumes the graph.
 *
 * @example
 * ```ts
 * defineAgent({ name: 'Poet', description: 'Writes poems', process: fromLangChain(createAgent({ model, tools })) });
 * ```
 */
export function fromLangChain(
  runnable: LangChainRunnable,
  options: LangChainRunOptions = {},
): ProcessFunction {
  checkSource(runnable, 'streamEvents', 'a runnable of LangChain.js');
  const { toInput = isChatModel(runnable) ? (messages) => messages : (messages) => ({ messages }) } = options;
  const graph = hasCheckpointer(runnable) ? runnable : undefined;
  return async function* (context): AsyncGenerator<AgentOutput, AgentOutput> {
    const earlier = graph ? [] : await context.history();
    const input = toInput(toModelMessages([...earlier, context.message]), context);
    const config = {
      version: 'v2',
      signal: context.signal,
      ...(graph && { configurable: { thread_id: threadOf(context) } }),
    };
    const isResumed = (await readQuestions(graph, config)).length > 0;
    const events = runnable.streamEvents(isResumed ? await resumeCommand(context.text) : input, config);
    const result = yield* runModel(readEvents(events, options.isOutput), options);
    const questions = await readQuestions(graph, config);
    return questions.length > 0 ? { state: 'input-required', message: questions.join('\n\n') } : result;
  };
}

/** Clients choose the ids of contexts, so the owner is part of the thread. */
function threadOf({ call, contextId }: ProcessContext): string {
  return compositeKey(call.owner ?? '', contextId);
}

async function* readEvents(
  events: AsyncIterable<LangChainEvent>,
  isOutput: (event: LangChainEvent) => boolean = isStreamed,
): AsyncGenerator<ModelEvent> {
  /** Runs of models that stream; others have their text only in the last event. */
  const streaming = new Set<string>();
  for await (const event of events) {
    switch (event.event) {
      case 'on_chat_model_stream':
        streaming.add(event.run_id);
        if (isOutput(event)) yield { type: 'text', text: readText(event.data.chunk) };
        break;
      case 'on_chat_model_end': {
        const { output } = event.data;
        if (!streaming.delete(event.run_id) && isOutput(event))
          yield { type: 'text', text: readText(output) };
        const usage = asJsonObject(asJsonObject(output)?.usage_metadata);
        if (usage)
          yield {
            type: 'usage',
            usage: {
              inputTokens: toCount(usage.input_tokens),
              outputTokens: toCount(usage.output_tokens),
              totalTokens: toCount(usage.total_tokens),
            },
          };
        break;
      }
      case 'on_tool_start':
        yield { type: 'tool-call', name: event.name, id: event.run_id, input: event.data.input };
        break;
    }
  }
}

function isStreamed({ tags = [] }: LangChainEvent): boolean {
  return !tags.includes('nostream') && !tags.includes('langsmith:nostream');
}

function toCount(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** Returns the text of a message: its content, or the text blocks of its content. */
function readText(message: unknown): string {
  const { content } = (message ?? {}) as { readonly content?: unknown };
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((block: { readonly type?: unknown; readonly text?: unknown }) =>
      block.type === 'text' && typeof block.text === 'string' ? block.text : '',
    )
    .join('');
}

function isChatModel(runnable: object): boolean {
  const { _modelType: modelType } = runnable as { readonly _modelType?: () => string };
  return typeof modelType === 'function' && modelType.call(runnable) === 'base_chat_model';
}

interface CheckpointedGraph extends LangChainRunnable {
  getState(config: object): Promise<{
    readonly tasks: readonly { readonly interrupts?: readonly { readonly value?: unknown }[] }[];
  }>;
}

function hasCheckpointer(runnable: LangChainRunnable): runnable is CheckpointedGraph {
  const { graph, checkpointer, getState } = runnable as Partial<CheckpointedGraph> & {
    readonly graph?: { readonly checkpointer?: unknown };
    readonly checkpointer?: unknown;
  };
  // Agents of createAgent wrap their graph.
  return typeof getState === 'function' && Boolean(checkpointer ?? graph?.checkpointer);
}

/** Returns the values of pending interrupts as texts. */
async function readQuestions(graph: CheckpointedGraph | undefined, config: object): Promise<string[]> {
  if (!graph) return [];
  const { tasks } = await graph.getState(config);
  return tasks.flatMap(({ interrupts = [] }) =>
    interrupts.map(({ value }) => (typeof value === 'string' ? value : JSON.stringify(value ?? null))),
  );
}

async function resumeCommand(resume: string): Promise<object> {
  const { Command } = await loadLibrary(
    'Resuming a graph',
    '@langchain/langgraph',
    () => import('@langchain/langgraph'),
  );
  return new Command({ resume });
}
