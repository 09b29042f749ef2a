import type { Message } from '../protocol/message.ts';
import type { Metadata, Part } from '../protocol/part.ts';
import { type Artifact, type TaskState, taskStates } from '../protocol/task.ts';
import { copyJson } from '../primitives/json.ts';
import { A2AError } from '../protocol/errors.ts';

/** Content of a message of the agent: a text, a list of parts, or a complete message. */
export type MessageContent = string | Part[] | Message;

/** Output that changes the status of the task. */
export interface StatusOutput {
  state: TaskState;
  message?: MessageContent;
  metadata?: Metadata;
}

/** An artifact of an agent. The id is optional, and `text` may replace `parts`. */
export interface ArtifactDraft extends Omit<Artifact, 'artifactId' | 'parts'> {
  artifactId?: string;
  parts?: Part[];
  text?: string;
}

/** Output of an artifact, or of a chunk if `append` is set. */
export interface ArtifactOutput {
  artifact: ArtifactDraft;
  append?: boolean;
  lastChunk?: boolean;
  metadata?: Metadata;
}

/** Output that a process function may yield. All strings of one run become chunks of one text artifact. */
export type AgentOutput = string | StatusOutput | ArtifactOutput | Message;

/**
 * Result that a process function may return: output, a list of artifacts, or nothing. The task is then completed, unless
 * the result is a status; a message becomes the message of the last status.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a function without a return statement is an agent too
export type AgentResult = AgentOutput | readonly ArtifactDraft[] | void;

/** Creates a status output. */
export function status(state: TaskState, message?: MessageContent): StatusOutput {
  return message === undefined ? { state } : { state, message };
}

/** Creates an artifact output from parts or a text. */
export function artifact(
  content: string | Part[],
  labels: Omit<ArtifactDraft, 'parts' | 'text'> = {},
): ArtifactOutput {
  return { artifact: { ...labels, parts: toParts(content) }, lastChunk: true };
}

/** Creates a chunk of the artifact with the output id. The first chunk starts the artifact. */
export function chunk(
  artifactId: string,
  content: string | Part[],
  options: { append?: boolean; lastChunk?: boolean; name?: string } = {},
): ArtifactOutput {
  const { append = true, lastChunk, name } = options;
  return { artifact: { artifactId, name, parts: toParts(content) }, append, lastChunk };
}

/** Converts a text to a list of one part; returns parts unchanged. */
function toParts(content: string | Part[]): Part[] {
  return typeof content === 'string' ? [{ text: content }] : content;
}

/** Returns true if the content is a complete message. */
export function isMessage(content: unknown): content is Message {
  return typeof content === 'object' && content !== null && 'role' in content && 'parts' in content;
}

/** Returns a copy of the parts of a draft. @throws {@link A2AError} if there are none. */
export function draftParts({ parts, text }: ArtifactDraft): Part[] {
  // Most chunks have one part, and a literal takes less time than map().
  if (parts?.length === 1) return [copyPart(parts[0] as Part)];
  const content = parts ? parts.map(copyPart) : text === undefined ? [] : [{ text }];
  if (content.length > 0) return content;
  throw new A2AError('INVALID_AGENT_RESPONSE', 'The agent returned an artifact without parts');
}

/** Copies a part. Only two of its members can be objects, so this takes less time than `copyJson`. */
function copyPart(part: Part): Part {
  const copy = { ...part };
  if (copy.metadata !== undefined) copy.metadata = copyJson(copy.metadata);
  if ('data' in copy) copy.data = copyJson(copy.data);
  return copy;
}

const settableStates: ReadonlySet<string> = new Set(taskStates.filter((state) => state !== 'submitted'));

/** Returns the state. @throws {@link A2AError} if agents may not set it. */
export function checkState(state: TaskState): TaskState {
  if (settableStates.has(state)) return state;
  throw new A2AError('INVALID_AGENT_RESPONSE', `The agent returned the invalid state ${state}`);
}

/** Creates the error for output of an unknown type. */
export function invalidOutputError(output: unknown): A2AError {
  const what =
    output === null || typeof output !== 'object'
      ? `a value of type ${output === null ? 'null' : typeof output}`
      : `an object with ${Object.keys(output).join(', ') || 'no members'}`;
  return new A2AError('INVALID_AGENT_RESPONSE', `The agent returned ${what}, which is not a valid output`, {
    hint: 'Return or yield a string, status(…), artifact(…), chunk(…) or a message.',
  });
}

/** Returns the iterator of a generator, or undefined for other values, including arrays and strings. */
export function toIterator(output: unknown): AsyncIterator<AgentOutput> | Iterator<AgentOutput> | undefined {
  if (typeof output !== 'object' || output === null) return undefined;
  if (Symbol.asyncIterator in output) return (output as AsyncIterable<AgentOutput>)[Symbol.asyncIterator]();
  if (Symbol.iterator in output && !Array.isArray(output))
    return (output as Iterable<AgentOutput>)[Symbol.iterator]();
  return undefined;
}

/** Converts content to a message of the agent. */
export function toAgentMessage(
  content: MessageContent,
  { contextId, taskId }: { contextId: string; taskId: string },
  newId: () => string,
): Message {
  const ids = { contextId, taskId };
  if (isMessage(content) && content.parts.length > 0)
    return { ...copyJson(content), role: 'agent', messageId: content.messageId || newId(), ...ids };
  const parts = isMessage(content) ? content.parts : toParts(copyJson(content));
  if (parts.length === 0)
    throw new A2AError('INVALID_AGENT_RESPONSE', 'The agent returned a message without parts');
  return { messageId: newId(), role: 'agent', parts, ...ids };
}
