import type { Operation } from '../../protocol/agent.ts';
import type { AgentCard } from '../../protocol/card.ts';
import type { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Message } from '../../protocol/message.ts';
import type { Part } from '../../protocol/part.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import { isTask, type Task } from '../../protocol/task.ts';

/** How many characters of somebody's words fit into a line. */
const maxWords = 80;

/** Operations as people say them. */
const spoken: { readonly [O in Operation | 'card']: string } = {
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

/** What a request asks for, in one line. */
export function summarizeRequest(operation: Operation | 'card', request?: unknown): string {
  const said = spoken[operation];
  if (request === undefined) return said;
  if (operation === 'send' || operation === 'stream')
    return withWords(said, partsInWords((request as SendRequest).message.parts));
  const { id, taskId } = request as { id?: string; taskId?: string };
  const about = taskId ?? (operation === 'listTasks' ? undefined : id);
  return about === undefined ? said : `${said} ${truncateSummary(about, 40)}`;
}

/** What an answer says, in one line. */
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
        : counted(tasks.length, 'task');
    }
    case 'listPushConfigs':
      return counted((result as { configs: unknown[] }).configs.length, 'push config');
    case 'createPushConfig':
    case 'getPushConfig':
      return 'push config';
    case 'deletePushConfig':
      return 'deleted';
  }
}

/** What a card says, in one line. */
export function summarizeCard({ name, version }: AgentCard): string {
  return `card of ${truncateSummary(name, 60)}${version === '' ? '' : ` ${truncateSummary(version, 20)}`}`;
}

function summarizeTaskOrMessage(answer: Task | Message): string {
  if (!isTask(answer)) return withWords('message', partsInWords(answer.parts));
  const { status, artifacts = [] } = answer;
  const words = partsInWords(status.message?.parts ?? artifacts.at(-1)?.parts ?? []);
  return withWords(`task ${status.state}`, words);
}

/** What an event says, in one line. */
export function summarizeEvent(event: StreamEvent): string {
  switch (event.kind) {
    case 'task':
      return summarizeTaskOrMessage(event.task);
    case 'message':
      return summarizeTaskOrMessage(event.message);
    case 'status':
      return withWords(`status ${event.status.state}`, partsInWords(event.status.message?.parts ?? []));
    case 'artifact': {
      const { artifact, append, lastChunk } = event;
      const place = append
        ? lastChunk
          ? ' (last chunk)'
          : ' (chunk)'
        : lastChunk === false
          ? ' (begins)'
          : '';
      const name = truncateSummary(artifact.name ?? artifact.artifactId, 40);
      return withWords(`artifact ${name}${place}`, partsInWords(artifact.parts));
    }
  }
}

/** What went wrong, in one line. */
export function summarizeError({ reason, message }: A2AError): string {
  const said = reason.toLowerCase().replaceAll('_', ' ');
  return message.toLowerCase().replaceAll(/[^a-z ]/g, '') === said ? said : withWords(said, message);
}

function withWords(summary: string, words: string): string {
  return words === '' ? summary : `${summary}: ${words}`;
}

function partsInWords(parts: readonly Part[]): string {
  let words = '';
  for (const part of parts) {
    if (words.length > maxWords) break;
    const more = partInWords(part);
    words += words === '' || more === '' || 'text' in part ? more : ` ${more}`;
  }
  return truncateSummary(words.replaceAll(/\s+/g, ' ').trim(), maxWords);
}

function partInWords(part: Part): string {
  if ('text' in part) return part.text.slice(0, 4 * maxWords);
  if ('data' in part) return '{data}';
  return `[${truncateSummary(part.filename ?? part.mediaType ?? 'file', 40)}]`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** A text in no more than so many characters. */
export function truncateSummary(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
