import type { Command } from 'commander';
import { isTask } from '../../../protocol/task.ts';
import { withAgent } from '../../client/session.ts';
import { followToEnd, isContinuation, placeholders, printOutcome, sendAndWait } from '../../client/wait.ts';
import { buildMessageParts } from './message-parts.ts';
import type { PartDraft } from './command.ts';
import { UsageError } from '../../terminal/usage-error.ts';

/** Runs `dragoman send`. */
export async function runSendCommand(command: Command, drafts: readonly PartDraft[]): Promise<void> {
  await withAgent(command, async (session) => {
    const { flags, agent, call, out } = session;
    const { contextId, taskId, metadata } = flags;
    if (drafts.length === 0)
      throw new UsageError(
        'Missing message',
        'Pass a text, as in dragoman send "hello", or use --text, --file or --data.',
      );
    const placeholder = drafts.find(({ value }) => Object.values<string>(placeholders).includes(value));
    if (placeholder)
      throw new UsageError(
        `${placeholder.value} stands for your message`,
        `Run the command again with your text in place of "${placeholder.value}".`,
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
      const result = await followToEnd(
        session,
        agent.stream(request, call),
        (event) => out.event(event),
        isContinuation(request),
      );
      printOutcome(session, result);
      return;
    }
    const isAsync = flags.async === true || flags.wait === false || flags.returnImmediately === true;
    const result = isAsync
      ? await agent.send({ ...request, configuration: { returnImmediately: true } }, call)
      : await sendAndWait(session, request);
    if (isTask(result)) session.taskId = result.id;
    out.result(result);
    printOutcome(session, result);
  });
}
