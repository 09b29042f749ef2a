import { must } from '../../rule-model.ts';
import { type ClientInvariant, contextVersions, defineClientInvariants } from '../client-check.ts';

/** Creates the rules that compare messages of all executions of one client. */
export function createMessageIdInvariants(): readonly ClientInvariant[] {
  /** Message by id: a repeated message has the same body. */
  const seen = new Map<string, string>();
  return defineClientInvariants({ category: 'lifecycle', versions: contextVersions }, [
    {
      id: 'client-request.message-id',
      ...must('4.1.4', 'MODEL-004', 'IDEM-001'),
      sentence: 'A client creates a new messageId for each message.',
      remedy: 'Use a random UUID; agents may take a repeated messageId for a repeated message.',
      check({ request: { call } }) {
        const { message } = call ?? {};
        if (message?.messageId === undefined) return undefined;
        const text = JSON.stringify([message.raw, message.taskId]);
        const earlier = seen.get(message.messageId);
        seen.set(message.messageId, text);
        return earlier === undefined || earlier === text
          ? []
          : [`Two messages have the messageId ${message.messageId}`];
      },
    },
  ]);
}
