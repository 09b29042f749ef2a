import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import type { StreamEvent } from '../../../protocol/event.ts';
import { isInterrupted, isTask } from '../../../protocol/task.ts';
import { ChatPrinter } from './chat-printer.ts';
import { ClientError, toErrorEnvelope } from '../../client/client-error.ts';
import { type ClientSession, printWarning, withAgent } from '../../client/session.ts';
import { followToEnd, isContinuation } from '../../client/wait.ts';
import { sanitizeForTerminal } from '../../terminal/sanitize.ts';

/** What is carried from one turn to the next. */
interface Thread {
  contextId: string | undefined;
  taskId: string | undefined;
  /** A person reads along. */
  isInteractive: boolean;
}

/** Talks with an agent until somebody leaves. Where nobody sits at the keyboard, each line of the input is a turn. */
export async function runChatCommand(command: Command): Promise<void> {
  await withAgent(command, (session) => talk(session), { isTalk: true });
}

async function talk(session: ClientSession): Promise<void> {
  const { flags, card } = session;
  const isInteractive = process.stdin.isTTY && process.stdout.isTTY;
  if (process.stdin.isTTY && !isInteractive)
    throw new ClientError(
      'A2ACLI_ERR_USAGE',
      'nobody would see the prompt: standard output is no terminal',
      'Use dragoman send, or pipe what you want to say into it.',
    );
  const thread: Thread = { contextId: flags.contextId, taskId: flags.taskId, isInteractive };
  const lines = createInterface({
    input: process.stdin,
    ...(isInteractive && { output: process.stdout, prompt: 'you> ' }),
  });
  if (isInteractive) {
    process.stderr.write(
      `Talking with ${sanitizeForTerminal(card.name, 'line')}. /exit leaves, /new begins anew.\n`,
    );
    lines.prompt();
  }
  for await (const line of lines) {
    const text = line.trim();
    if (text === '/exit' || text === '/quit') break;
    if (text !== '') await turn(session, thread, text);
    if (isInteractive) lines.prompt();
  }
  lines.close();
}

/** A turn that fails is told, and the conversation goes on. */
async function turn(session: ClientSession, thread: Thread, text: string): Promise<void> {
  try {
    if (text.startsWith('/')) await order(session, thread, text);
    else await say(session, thread, text);
  } catch (thrown) {
    if (session.call.signal?.aborted) throw thrown;
    const { code, message, hint } = toErrorEnvelope(thrown).error;
    session.out.end();
    printWarning(`${message} (${code})${hint === null ? '' : ` ${hint}`}`);
  }
}

async function order(session: ClientSession, thread: Thread, text: string): Promise<void> {
  const { out } = session;
  if (text === '/new') {
    thread.contextId = undefined;
    thread.taskId = undefined;
  } else if (text === '/ids') {
    out.field('Context ID', thread.contextId ?? '(none)');
    out.field('Task ID', thread.taskId ?? '(none)');
  } else if (text === '/cancel') {
    if (thread.taskId === undefined) printWarning('no task waits');
    else out.task(await session.agent.cancelTask({ id: thread.taskId }, session.call));
    thread.taskId = undefined;
  } else printWarning(`there is no ${text}: /new, /cancel, /ids, /exit`);
}

async function say(session: ClientSession, thread: Thread, text: string): Promise<void> {
  const { agent, call, out, flags } = session;
  const { contextId, taskId } = thread;
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
  const isTalk = thread.isInteractive && !out.isJson && !flags.verbose;
  const view = isTalk ? new ChatPrinter((said) => process.stdout.write(said)) : undefined;
  const tell = (event: StreamEvent) => {
    if (view) view.event(event);
    else if (isLive) out.event(event);
  };
  const answer = await followToEnd(session, agent.stream(request, call), tell, isContinuation(request));
  out.end();
  view?.end(answer);
  if (!isLive) out.answer(answer);
  if (!isTask(answer)) {
    thread.contextId = answer.contextId ?? contextId;
    return;
  }
  thread.contextId = answer.contextId === '' ? contextId : answer.contextId;
  thread.taskId = isInterrupted(answer.status.state) ? answer.id : undefined;
  if (thread.taskId !== undefined && !view) printWarning('the agent waits for your answer');
}
