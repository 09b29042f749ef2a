import { inspect } from 'node:util';
import { A2AError } from '../../protocol/errors.ts';
import { joinLines } from '../../primitives/text.ts';

/** A usage error that the user can fix. The command exits with code 2. */
export class UsageError extends A2AError {
  /**
   * @param hint - the fix, as an imperative sentence.
   * @param places - locations such as `file:line:column: message`, printed one per line.
   */
  constructor(
    message: string,
    hint: string,
    { cause, places }: { cause?: unknown; places?: readonly string[] } = {},
  ) {
    super('INVALID_PARAMS', message, {
      hint,
      cause,
      ...(places && { details: { places: places.join('\n') } }),
    });
  }
}

/** Returns an error and its causes in one line. */
export function errorSummary(thrown: unknown): string {
  const messages: string[] = [];
  let current: unknown = thrown;
  // The depth is limited because a chain of causes may be circular.
  for (let depth = 0; current !== undefined && depth < 5; depth++) {
    const message =
      current instanceof Error
        ? nameAndMessage(current)
        : inspect(current, { breakLength: Infinity, depth: 1 });
    // A wrapping error often repeats the message of its cause.
    if (!messages.some((before) => before.endsWith(message))) messages.push(message);
    current = current instanceof Error ? current.cause : undefined;
  }
  return joinLines(messages.join(': '));
}

function nameAndMessage({ name, message }: Error): string {
  if (name === 'A2AError' || name === 'HttpTransportError' || name === 'Error')
    return message === '' ? name : message;
  return message === '' ? name : `${name}: ${message}`;
}
