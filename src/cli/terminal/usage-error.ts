import { inspect } from 'node:util';
import { A2AError } from '../../protocol/errors.ts';

/** Something that whoever typed the command can put right. The command then ends with exit code 2. */
export class UsageError extends A2AError {
  /**
   * @param hint - what to do about it.
   */
  constructor(message: string, hint: string, cause?: unknown) {
    super('INVALID_PARAMS', message, { hint, cause });
  }
}

/** Says on standard error what went wrong, why, and what can be done about it. */
export function printError(thrown: unknown): void {
  const hint = thrown instanceof A2AError ? thrown.hint : undefined;
  process.stderr.write(`dragoman: ${errorSummary(thrown)}\n`);
  if (hint !== undefined) process.stderr.write(`  ${hint}\n`);
}

/** Tells in one line what was thrown and what caused it. */
export function errorSummary(thrown: unknown): string {
  const reasons: string[] = [];
  let at: unknown = thrown;
  // A chain of causes may be a ring.
  for (let depth = 0; at !== undefined && depth < 5; depth++) {
    const reason =
      at instanceof Error ? nameAndMessage(at) : inspect(at, { breakLength: Infinity, depth: 1 });
    // What wraps something often says the same.
    if (!reasons.some((before) => before.endsWith(reason))) reasons.push(reason);
    at = at instanceof Error ? at.cause : undefined;
  }
  return reasons.join(': ').replaceAll(/\s*\n\s*/g, ' ');
}

function nameAndMessage({ name, message }: Error): string {
  if (name === 'A2AError' || name === 'HttpFailure' || name === 'Error')
    return message === '' ? name : message;
  return message === '' ? name : `${name}: ${message}`;
}
