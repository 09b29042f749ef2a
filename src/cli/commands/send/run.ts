import type { Command } from 'commander';
import { isTask } from '../../../protocol/task.ts';
import { ClientError } from '../../client/client-error.ts';
import { withAgent } from '../../client/session.ts';
import { followToEnd, isContinuation, sendAndWait, printOutcome } from '../../client/wait.ts';
import { buildMessageParts } from './message-parts.ts';
import type { PartDraft } from './command.ts';

/** Sends a message and says what comes of it. */
export async function runSendCommand(command: Command, drafts: readonly PartDraft[]): Promise<void> {
  await withAgent(command, async (session) => {
    const { flags, agent, call, out } = session;
    const { contextId, taskId, metadata } = flags;
    if (drafts.length === 0)
      throw new ClientError(
        'A2ACLI_ERR_USAGE',
        'there is nothing to send',
        'Say something, as in dragoman send "hello", or give --text, --file or --data.',
      );
    const request = {
      message: {
        messageId: crypto.randomUUID(),
        role: 'user' as const,
        parts: await buildMessageParts(drafts),
        ...(contextId !== undefined && { contextId }),
        ...(taskId !== undefined && { taskId }),
      },
      ...(metadata && { metadata }),
    };
    if (flags.stream) {
      const answer = await followToEnd(
        session,
        agent.stream(request, call),
        (event) => out.event(event),
        isContinuation(request),
      );
      printOutcome(session, answer);
      return;
    }
    const isAsync = flags.async === true || flags.wait === false || flags.returnImmediately === true;
    const answer = isAsync
      ? await agent.send({ ...request, configuration: { returnImmediately: true } }, call)
      : await sendAndWait(session, request);
    if (isTask(answer)) session.taskId = answer.id;
    out.answer(answer);
    printOutcome(session, answer);
  });
}
