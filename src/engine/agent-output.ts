import type { Message } from '../protocol/message.ts';
import type { Metadata, Part } from '../protocol/part.ts';
import { type Artifact, type TaskState, taskStates } from '../protocol/task.ts';
import { A2AError } from '../protocol/errors.ts';

/** What an agent says: a text, a list of parts, or a message of its own making. */
export type MessageContent = string | Part[] | Message;

/** A new status. */
export interface StatusOutput {
  state: TaskState;
  message?: MessageContent;
  metadata?: Metadata;
}

/** An artifact as an agent writes it down: the id may be left out, and a text may stand for the parts. */
export interface ArtifactDraft extends Omit<Artifact, 'artifactId' | 'parts'> {
  artifactId?: string;
  parts?: Part[];
  text?: string;
}

/** An artifact, or a chunk of one when `append` is set. */
export interface ArtifactOutput {
  artifact: ArtifactDraft;
  append?: boolean;
  lastChunk?: boolean;
  metadata?: Metadata;
}

/**
 * What an agent may yield. A string is a chunk of text: the chunks of one run make up one artifact.
 */
export type AgentOutput = string | StatusOutput | ArtifactOutput | Message;

/**
 * What an agent may return: the same, or a list of artifacts, or nothing. Unless it says otherwise the task is then
 * completed; a message becomes what the agent says with its last status.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a function without a return statement is an agent too
export type AgentResult = AgentOutput | readonly ArtifactDraft[] | void;

/** Says something with a status. */
export function status(state: TaskState, message?: MessageContent): StatusOutput {
  return message === undefined ? { state } : { state, message };
}

/** Makes an artifact out of parts, or out of a text. */
export function artifact(
  content: string | Part[],
  labels: Omit<ArtifactDraft, 'parts' | 'text'> = {},
): ArtifactOutput {
  return { artifact: { ...labels, parts: toParts(content) }, lastChunk: true };
}

/** Adds to the artifact of that id; the first chunk begins it. */
export function chunk(
  artifactId: string,
  content: string | Part[],
  options: { append?: boolean; lastChunk?: boolean; name?: string } = {},
): ArtifactOutput {
  const { append = true, lastChunk, name } = options;
  return { artifact: { artifactId, name, parts: toParts(content) }, append, lastChunk };
}

/** Parts, out of parts or a text. */
export function toParts(content: string | Part[]): Part[] {
  return typeof content === 'string' ? [{ text: content }] : content;
}

/** True for a message among the things an agent may say. */
export function isMessage(said: unknown): said is Message {
  return typeof said === 'object' && said !== null && 'role' in said && 'parts' in said;
}

/** The parts of a draft. An artifact has some. */
export function draftParts({ parts, text }: ArtifactDraft): Part[] {
  const given = parts ?? (text === undefined ? [] : [{ text }]);
  if (given.length > 0) return given;
  throw new A2AError('INVALID_AGENT_RESPONSE', 'The agent gave an artifact without parts');
}

const states: ReadonlySet<string> = new Set(taskStates.filter((state) => state !== 'submitted'));

/** A state that a task can be in while its agent works on it, or a complaint. */
export function checkState(state: TaskState): TaskState {
  if (states.has(state)) return state;
  throw new A2AError('INVALID_AGENT_RESPONSE', `The agent gave ${state}, which is no state of its work`);
}

/** The complaint about something that no agent may give. */
export function invalidOutputError(given: unknown): A2AError {
  const what =
    given === null || typeof given !== 'object'
      ? `a value of type ${given === null ? 'null' : typeof given}`
      : `an object with ${Object.keys(given).join(', ') || 'nothing in it'}`;
  return new A2AError('INVALID_AGENT_RESPONSE', `The agent gave ${what}, which is no output`);
}
