import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import type { StreamEvent } from '../../../protocol/event.ts';
import { isInterrupted, isTask } from '../../../protocol/task.ts';
import { ChatPrinter } from './chat-printer.ts';
import { toErrorEnvelope } from '../../client/client-error.ts';
import { type ClientSession, withAgent } from '../../client/session.ts';
import { printWarning } from '../../terminal/print-error.ts';
import { followToEnd, isContinuation } from '../../client/wait.ts';
import { sanitizeForTerminal } from '../../terminal/sanitize.ts';
import { UsageError } from '../../terminal/usage-error.ts';

/** State between turns. */
interface Conversation {
  contextId: string | undefined;
  taskId: string | undefined;
  isInteractive: boolean;
}

/** Runs `dragoman chat` until the user leaves. Without a terminal, each line of standard input is a turn. */
export async function runChatCommand(command: Command): Promise<void> {
  await withAgent(command, (session) => chat(session), { isInteractive: true });
}

async function chat(session: ClientSession): Promise<void> {
  const { flags, card } = session;
  const isInteractive = process.stdin.isTTY && process.stdout.isTTY;
  if (process.stdin.isTTY && !isInteractive)
    throw new UsageError(
      'Standard output is not a terminal, so the prompt would not be visible',
      'Use dragoman send, or pipe the messages to standard input.',
    );
  const conversation: Conversation = { contextId: flags.contextId, taskId: flags.taskId, isInteractive };
  const lines = createInterface({
    input: process.stdin,
    ...(isInteractive && { output: process.stdout, prompt: 'you> ' }),
  });
  if (isInteractive) {
    process.stderr.write(
      `Chat with ${sanitizeForTerminal(card.name, 'line')}. /exit ends the chat, /new starts a new context.\n`,
    );
    lines.prompt();
  }
  for await (const line of lines) {
    const text = line.trim();
    if (text === '/exit' || text === '/quit') break;
    if (text !== '') await runTurn(session, conversation, text);
    if (isInteractive) lines.prompt();
  }
  lines.close();
}

/** Runs one turn. Prints errors as warnings, so that the chat continues. */
async function runTurn(session: ClientSession, conversation: Conversation, text: string): Promise<void> {
  try {
    if (text.startsWith('/')) await runSlashCommand(session, conversation, text);
    else await sendTurn(session, conversation, text);
  } catch (thrown) {
    if (session.call.signal?.aborted) throw thrown;
    const { code, message, hint } = toErrorEnvelope(thrown).error;
    session.out.end();
    printWarning(`${message} (${code})${hint === null ? '' : ` ${hint}`}`);
  }
}

async function runSlashCommand(
  session: ClientSession,
  conversation: Conversation,
  text: string,
): Promise<void> {
  const { out } = session;
  if (text === '/new') {
    conversation.contextId = undefined;
    conversation.taskId = undefined;
  } else if (text === '/ids') {
    out.field('Context ID', conversation.contextId ?? '(none)');
    out.field('Task ID', conversation.taskId ?? '(none)');
  } else if (text === '/cancel') {
    if (conversation.taskId === undefined) printWarning('No interrupted task');
    else out.task(await session.agent.cancelTask({ id: conversation.taskId }, session.call));
    conversation.taskId = undefined;
  } else printWarning(`Unknown command ${text}; use /new, /cancel, /ids or /exit`);
}

async function sendTurn(session: ClientSession, conversation: Conversation, text: string): Promise<void> {
  const { agent, call, out, flags } = session;
  const { contextId, taskId } = conversation;
  const request = {
    message: {
      messageId: crypto.randomUUID(),
      role: 'user' as const,
      parts: [{ text }],
      ...(contextId !== undefined && { contextId }),
      ...(taskId !== undefined && { taskId }),
    },
  };
  const isLive = flags.stream || !out.isJson;
  const usesPrinter = conversation.isInteractive && !out.isJson && !flags.verbose;
  const printer = usesPrinter ? new ChatPrinter((output) => process.stdout.write(output)) : undefined;
  const onEvent = (event: StreamEvent) => {
    if (printer) printer.event(event);
    else if (isLive) out.event(event);
  };
  const result = await followToEnd(session, agent.stream(request, call), onEvent, isContinuation(request));
  out.end();
  printer?.end(result);
  if (!isLive) out.result(result);
  if (!isTask(result)) {
    conversation.contextId = result.contextId ?? contextId;
    return;
  }
  conversation.contextId = result.contextId === '' ? contextId : result.contextId;
  conversation.taskId = isInterrupted(result.status.state) ? result.id : undefined;
  if (conversation.taskId !== undefined && !printer) printWarning('The agent requests input');
}
