import type { ProcessFunction } from '../../engine/agent-definition.ts';
import type { ProcessContext } from '../../engine/process-context.ts';
import { approvalError } from '../approval-error.ts';
import { checkSource, checkStream } from '../check-source.ts';
import type { ModelEvent } from '../model-event.ts';
import { type ModelMessage, toModelMessages } from '../model-messages.ts';
import { type ModelRunOptions, runModel } from '../run-model.ts';
import { loadOpenAiAgents } from './openai-agents-library.ts';

/** Arguments of one run. */
export interface OpenAiAgentsCall {
  /** The conversation so far and the message to process: input items of the SDK. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the SDK is not a dependency, so its types are not known here
  readonly input: any[];
  /** Aborted when the task is canceled. */
  readonly signal: AbortSignal;
}

/** The part of a streamed run that is read. */
export interface OpenAiAgentsRun extends AsyncIterable<{ readonly type: string }> {
  /** Rejects if the run failed. */
  readonly completed: Promise<void>;
}

/** The part of an agent of the OpenAI Agents SDK that identifies it. */
export interface OpenAiAgent {
  readonly name: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- see OpenAiAgentsCall
  getSystemPrompt(context: any): Promise<string | undefined>;
}

/** An agent of the OpenAI Agents SDK, or a function that runs one with `stream: true`. */
export type OpenAiAgentsSource =
  | OpenAiAgent
  | ((call: OpenAiAgentsCall, context: ProcessContext) => OpenAiAgentsRun | PromiseLike<OpenAiAgentsRun>);

/**
 * Makes a process function from an agent of the OpenAI Agents SDK. Earlier turns of the context are part of the input;
 * text deltas become chunks, tool calls and handoffs status updates, usage metadata of the task. Canceling the task
 * aborts the run. If the run fails, the task fails and keeps the text so far.
 *
 * @example
 * ```ts
 * const poet = new Agent({ name: 'Poet', instructions: 'Write poems.' });
 * defineAgent({ name: 'Poet', description: 'Writes poems', process: fromOpenAiAgents(poet) });
 * ```
 */
export function fromOpenAiAgents(source: OpenAiAgentsSource, options: ModelRunOptions = {}): ProcessFunction {
  if (typeof source !== 'function')
    checkSource(source, 'getSystemPrompt', 'an agent of the OpenAI Agents SDK, or a function that runs one');
  return async function* (context) {
    const messages = toModelMessages([...(await context.history()), context.message]);
    const call = { input: messages.map(toInputItem), signal: context.signal };
    const run = await (typeof source === 'function' ? source(call, context) : startRun(source, call));
    checkStream(run, 'the result of run() with stream: true');
    return yield* runModel(readEvents(run), options);
  };
}

async function startRun(agent: OpenAiAgent, call: OpenAiAgentsCall): Promise<OpenAiAgentsRun> {
  const { run } = await loadOpenAiAgents('fromOpenAiAgents');
  return run(agent, call.input, { stream: true, signal: call.signal });
}

function toInputItem(message: ModelMessage): object {
  if (message.role === 'assistant')
    return {
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: message.content }],
    };
  if (typeof message.content === 'string') return { role: 'user', content: message.content };
  return {
    role: 'user',
    content: message.content.map((each) => {
      if (each.type === 'text') return { type: 'input_text', text: each.text };
      const url = `data:${each.mediaType};base64,${each.data}`;
      return each.mediaType.startsWith('image/')
        ? { type: 'input_image', image: url }
        : { type: 'input_file', file: url, ...(each.filename !== undefined && { filename: each.filename }) };
    }),
  };
}

/** Fields of the events of a run that are read. */
interface RunEvent {
  readonly type: string;
  readonly name?: string;
  readonly data?: {
    readonly type: string;
    readonly delta?: string;
    readonly response?: {
      readonly usage?: {
        readonly inputTokens?: number;
        readonly outputTokens?: number;
        readonly totalTokens?: number;
      };
    };
  };
  readonly item?: {
    readonly rawItem?: {
      readonly name?: string;
      readonly callId?: string;
      readonly arguments?: string;
      readonly content?: readonly { readonly type: string; readonly text?: string }[];
    };
  };
}

async function* readEvents(run: OpenAiAgentsRun): AsyncGenerator<ModelEvent> {
  /** True if deltas contained the text of the next message; some models do not stream. */
  let isStreamed = false;
  for await (const { type, name, data, item } of run as AsyncIterable<RunEvent>) {
    if (type === 'raw_model_stream_event') {
      if (data?.type === 'output_text_delta') {
        isStreamed = true;
        yield { type: 'text', text: data.delta ?? '' };
      } else if (data?.type === 'response_done' && data.response?.usage)
        yield { type: 'usage', usage: data.response.usage };
    } else if (name === 'message_output_created') {
      if (!isStreamed)
        for (const { type: kind, text = '' } of item?.rawItem?.content ?? [])
          if (kind === 'output_text') yield { type: 'text', text };
      isStreamed = false;
    } else if (name === 'tool_called' || name === 'handoff_requested') {
      const { name: tool = '', callId, arguments: input } = item?.rawItem ?? {};
      yield { type: 'tool-call', name: tool, id: callId, input };
    } else if (name === 'tool_approval_requested') {
      throw approvalError(item?.rawItem?.name ?? '');
    }
  }
  await run.completed;
}
