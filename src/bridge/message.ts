import type { Message } from '../protocol/message.ts';
import type { Part, RawPart } from '../protocol/part.ts';
import type { Parameters } from './parameters.ts';
import { type BridgedSkill, fillTemplate } from './skill.ts';

/** Where a message goes. */
interface Destination {
  readonly messageId: string;
  readonly contextId?: string | undefined;
  readonly taskId?: string | undefined;
}

/** Writes the parameters of an action as a message: a text, the parameters as data where they have names, and files. */
export function messageOf(
  { action, template, takesData }: BridgedSkill,
  parameters: Parameters,
  files: readonly RawPart[],
  destination: Destination,
): Message {
  const { files: _read, ...given } = parameters;
  const parts: Part[] = [{ text: textFor(given, template) }];
  if (takesData) parts.push({ data: given, mediaType: 'application/json' });
  return { ...addressed(destination, [...parts, ...files]), metadata: { skillId: action.skillId } };
}

/** The answer to a question of an agent. */
export function replyOf(text: string, files: readonly RawPart[], destination: Destination): Message {
  return addressed(destination, [{ text }, ...files]);
}

function addressed({ messageId, contextId, taskId }: Destination, parts: Part[]): Message {
  const message: Message = { messageId, role: 'user', parts };
  if (contextId !== undefined) message.contextId = contextId;
  if (taskId !== undefined) message.taskId = taskId;
  return message;
}

/** The parameters as somebody would say them. */
function textFor(given: Parameters, template: string | undefined): string {
  if (template !== undefined) {
    return fillTemplate(template, (name) => (Object.hasOwn(given, name) ? said(given[name]) : undefined));
  }
  const { prompt } = given;
  const isPlain = typeof prompt === 'string';
  const lines = Object.entries(given)
    .filter(([name, value]) => value !== undefined && !(isPlain && name === 'prompt'))
    .map(([name, value]) => `${name}: ${said(value)}`);
  if (!isPlain) return lines.join('\n');
  return lines.length === 0 ? prompt : `${prompt}\n\n${lines.join('\n')}`;
}

function said(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
