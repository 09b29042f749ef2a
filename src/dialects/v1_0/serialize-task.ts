import type { Message } from '../../protocol/message.ts';
import { isTask, type Task, type TaskStatus } from '../../protocol/task.ts';
import { isPlainTextPart, quoteCached, serializeArtifact } from './serialize-event.ts';
import { writeMessage } from './message.ts';
import { wireStates, writeStatus } from './task.ts';

/**
 * Serializes a task with exactly the output of `JSON.stringify`. Most tasks consist of plain text and are concatenated
 * in less than half of the time.
 */
export function serializeTask({ id, contextId, status, artifacts, history, metadata }: Task): string {
  const idText = JSON.stringify(id);
  const contextText = JSON.stringify(contextId);
  let text = `{"id":${idText},"contextId":${contextText},"status":${statusText(status)}`;
  if (artifacts !== undefined) text += `,"artifacts":[${artifacts.map(serializeArtifact).join(',')}]`;
  if (history !== undefined) {
    text += ',"history":[';
    for (let i = 0; i < history.length; i++) {
      const message = history[i] as Message;
      if (i > 0) text += ',';
      const isOfTask = message.taskId === id && message.contextId === contextId;
      text += isOfTask
        ? serializeMessage(message, idText, contextText)
        : JSON.stringify(writeMessage(message));
    }
    text += ']';
  }
  return metadata === undefined ? `${text}}` : `${text},"metadata":${JSON.stringify(metadata)}}`;
}

/** Serializes the result of a send: a wrapped task or message. */
export function serializeSendResult(result: Task | Message): string {
  return isTask(result)
    ? `{"task":${serializeTask(result)}}`
    : `{"message":${JSON.stringify(writeMessage(result))}}`;
}

function statusText(status: TaskStatus): string {
  const { state, message, timestamp } = status;
  if (message !== undefined || timestamp === undefined) return JSON.stringify(writeStatus(status));
  return `{"state":"${wireStates[state]}","timestamp":${quoteCached(timestamp)}}`;
}

/** Serializes a message; the ids are already quoted. */
function serializeMessage(message: Message, taskId: string, contextId: string): string {
  const { messageId, role, parts, metadata, extensions, referenceTaskIds } = message;
  const part = parts[0];
  const isPlain = metadata === undefined && extensions === undefined && referenceTaskIds === undefined;
  if (!isPlain || parts.length !== 1 || !isPlainTextPart(part)) return JSON.stringify(writeMessage(message));
  const who = role === 'user' ? 'ROLE_USER' : 'ROLE_AGENT';
  return `{"messageId":${JSON.stringify(messageId)},"contextId":${contextId},"taskId":${taskId},"role":"${who}","parts":[{"text":${JSON.stringify(part.text)}}]}`;
}
