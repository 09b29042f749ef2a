import type { Message } from '../../protocol/message.ts';
import type { Part, RawPart } from '../../protocol/part.ts';
import type { ActionParameters } from './parameter-check.ts';
import { type BridgedSkill, fillTemplate } from './skill-actions.ts';

/** Where a message goes. */
interface Destination {
  readonly messageId: string;
  readonly contextId?: string | undefined;
  readonly taskId?: string | undefined;
}

/** Writes the parameters of an action as a message: a text, the parameters as data where they have names, and files. */
export function buildActionMessage(
  { action, template, takesData }: BridgedSkill,
  parameters: ActionParameters,
  files: readonly RawPart[],
  destination: Destination,
): Message {
  const parts: Part[] = [{ text: textFor(parameters, template, files) }];
  if (takesData) {
    const { files: _read, ...data } = parameters;
    parts.push({ data, mediaType: 'application/json' });
  }
  for (const file of files) parts.push(file);
  const message = addressed(destination, parts);
  message.metadata = { skillId: action.skillId };
  return message;
}

/** The answer to a question of an agent. */
export function buildFollowUpMessage(
  text: string,
  files: readonly RawPart[],
  destination: Destination,
): Message {
  return addressed(destination, [{ text }, ...files]);
}

function addressed({ messageId, contextId, taskId }: Destination, parts: Part[]): Message {
  const message: Message = { messageId, role: 'user', parts };
  if (contextId !== undefined) message.contextId = contextId;
  if (taskId !== undefined) message.taskId = taskId;
  return message;
}

/** The parameters as somebody would say them. */
function textFor(given: ActionParameters, template: string | undefined, files: readonly RawPart[]): string {
  if (template !== undefined) {
    return fillTemplate(template, (name) => {
      // Files come after the text, which can only name them.
      if (name === 'files') return files.map(({ filename }) => filename).join(', ') || undefined;
      return Object.hasOwn(given, name) ? said(given[name]) : undefined;
    });
  }
  const { prompt } = given;
  const isPlain = typeof prompt === 'string';
  let listed = '';
  for (const name of Object.keys(given)) {
    if (name === 'files' || (isPlain && name === 'prompt') || given[name] === undefined) continue;
    listed += `${listed && '\n'}${name}: ${said(given[name])}`;
  }
  if (!isPlain) return listed;
  return listed === '' ? prompt : `${prompt}\n\n${listed}`;
}

function said(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
