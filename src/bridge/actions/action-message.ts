import type { Message } from '../../protocol/message.ts';
import type { Part, RawPart } from '../../protocol/part.ts';
import type { ActionParameters } from './parameter-check.ts';
import { type BridgedSkill, fillTemplate } from './skill-actions.ts';

interface MessageIds {
  readonly messageId: string;
  readonly contextId?: string | undefined;
  readonly taskId?: string | undefined;
}

/** Builds a message from the parameters of an action: text, data for named parameters, and files. */
export function buildActionMessage(
  { action, template, takesData }: BridgedSkill,
  parameters: ActionParameters,
  files: readonly RawPart[],
  ids: MessageIds,
): Message {
  const parts: Part[] = [{ text: formatParameters(parameters, template, files) }];
  if (takesData) {
    const { files: _files, ...data } = parameters;
    parts.push({ data, mediaType: 'application/json' });
  }
  for (const file of files) parts.push(file);
  const message = createMessage(ids, parts);
  message.metadata = { skillId: action.skillId };
  return message;
}

/** Builds the message that provides required input. */
export function buildFollowUpMessage(text: string, files: readonly RawPart[], ids: MessageIds): Message {
  return createMessage(ids, [{ text }, ...files]);
}

function createMessage({ messageId, contextId, taskId }: MessageIds, parts: Part[]): Message {
  const message: Message = { messageId, role: 'user', parts };
  if (contextId !== undefined) message.contextId = contextId;
  if (taskId !== undefined) message.taskId = taskId;
  return message;
}

/** Formats the parameters as text: the filled template of the skill, or the prompt and `name: value` lines. */
function formatParameters(
  parameters: ActionParameters,
  template: string | undefined,
  files: readonly RawPart[],
): string {
  if (template !== undefined) {
    return fillTemplate(template, (name) => {
      // Files are separate parts; the text contains only their names.
      if (name === 'files') return files.map(({ filename }) => filename).join(', ') || undefined;
      return Object.hasOwn(parameters, name) ? formatValue(parameters[name]) : undefined;
    });
  }
  const { prompt } = parameters;
  const isPlain = typeof prompt === 'string';
  let lines = '';
  for (const name of Object.keys(parameters)) {
    if (name === 'files' || (isPlain && name === 'prompt') || parameters[name] === undefined) continue;
    lines += `${lines && '\n'}${name}: ${formatValue(parameters[name])}`;
  }
  if (!isPlain) return lines;
  return lines === '' ? prompt : `${prompt}\n\n${lines}`;
}

function formatValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
