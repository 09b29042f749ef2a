import { truncate } from '../../primitives/text.ts';
import type { Operation } from '../../protocol/agent.ts';
import type { AgentCard } from '../../protocol/card.ts';
import type { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Message } from '../../protocol/message.ts';
import type { Part } from '../../protocol/part.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import { isTask, type Task } from '../../protocol/task.ts';

/** Maximum number of message characters in a summary. */
const maxTextLength = 80;

const operationLabels: { readonly [O in Operation | 'card']: string } = {
  card: 'get card',
  extendedCard: 'get extended card',
  send: 'send',
  stream: 'stream',
  getTask: 'get task',
  listTasks: 'list tasks',
  cancelTask: 'cancel task',
  subscribe: 'subscribe',
  createPushConfig: 'set push config',
  getPushConfig: 'get push config',
  listPushConfigs: 'list push configs',
  deletePushConfig: 'delete push config',
};

/** Summarizes a request in one line. */
export function summarizeRequest(operation: Operation | 'card', request?: unknown): string {
  const label = operationLabels[operation];
  if (request === undefined) return label;
  if (operation === 'send' || operation === 'stream')
    return appendText(label, summarizeParts((request as SendRequest).message.parts));
  const { id, taskId } = request as { id?: string; taskId?: string };
  const target = taskId ?? (operation === 'listTasks' ? undefined : id);
  return target === undefined ? label : `${label} ${truncate(target, 40)}`;
}

/** Summarizes a result in one line. */
export function summarizeResult(operation: Operation | 'card', result: unknown): string {
  switch (operation) {
    case 'card':
    case 'extendedCard':
      return summarizeCard(result as AgentCard);
    case 'send':
    case 'stream':
    case 'getTask':
    case 'cancelTask':
    case 'subscribe':
      return summarizeTaskOrMessage(result as Task | Message);
    case 'listTasks': {
      const { tasks, totalSize } = result as { tasks: unknown[]; totalSize: number };
      return totalSize > tasks.length
        ? `${tasks.length} of ${totalSize} tasks`
        : formatCount(tasks.length, 'task');
    }
    case 'listPushConfigs':
      return formatCount((result as { configs: unknown[] }).configs.length, 'push config');
    case 'createPushConfig':
    case 'getPushConfig':
      return 'push config';
    case 'deletePushConfig':
      return 'deleted';
  }
}

/** Summarizes a card in one line. */
export function summarizeCard({ name, version }: AgentCard): string {
  return `card of ${truncate(name, 60)}${version === '' ? '' : ` ${truncate(version, 20)}`}`;
}

function summarizeTaskOrMessage(result: Task | Message): string {
  if (!isTask(result)) return appendText('message', summarizeParts(result.parts));
  const { status, artifacts = [] } = result;
  const text = summarizeParts(status.message?.parts ?? artifacts.at(-1)?.parts ?? []);
  return appendText(`task ${status.state}`, text);
}

/** Summarizes an event in one line. */
export function summarizeEvent(event: StreamEvent): string {
  switch (event.kind) {
    case 'task':
      return summarizeTaskOrMessage(event.task);
    case 'message':
      return summarizeTaskOrMessage(event.message);
    case 'status':
      return appendText(`status ${event.status.state}`, summarizeParts(event.status.message?.parts ?? []));
    case 'artifact': {
      const { artifact, append, lastChunk } = event;
      const first = lastChunk === false ? ' (first chunk)' : '';
      const position = append ? (lastChunk ? ' (last chunk)' : ' (chunk)') : first;
      const name = truncate(artifact.name ?? artifact.artifactId, 40);
      return appendText(`artifact ${name}${position}`, summarizeParts(artifact.parts));
    }
  }
}

/** Summarizes an error in one line. */
export function summarizeError({ reason, message }: A2AError): string {
  const label = reason.toLowerCase().replaceAll('_', ' ');
  return message.toLowerCase().replaceAll(/[^a-z ]/g, '') === label ? label : appendText(label, message);
}

function appendText(summary: string, text: string): string {
  return text === '' ? summary : `${summary}: ${text}`;
}

function summarizeParts(parts: readonly Part[]): string {
  let text = '';
  for (const part of parts) {
    if (text.length > maxTextLength) break;
    const next = summarizePart(part);
    text += text === '' || next === '' || 'text' in part ? next : ` ${next}`;
  }
  return truncate(text.replaceAll(/\s+/g, ' ').trim(), maxTextLength);
}

function summarizePart(part: Part): string {
  if ('text' in part) return part.text.slice(0, 4 * maxTextLength);
  if ('data' in part) return '{data}';
  return `[${truncate(part.filename ?? part.mediaType ?? 'file', 40)}]`;
}

function formatCount(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
