import { RuleViolationError, InconclusiveError, NotApplicableError, toViolation } from './check-errors.ts';
import type { Check } from './check.ts';
import { buildRuleResult } from './observation/invariant-monitor.ts';
import { findUnmetPrecondition } from './preconditions.ts';
import { Probe } from './probe.ts';
import { findMisleadingMessage } from './prompts/misleading-message.ts';
import type { ProbeContext } from './probe-context.ts';
import { type RuleResult, type RuleVerdict, verdictForLevel } from './rule-model.ts';
import type { RunChecksOptions } from './run-checks.ts';
import { toEvidence } from './wire/http-exchange.ts';

/** A check bound to a protocol variant. */
export interface ScheduledCheck {
  readonly check: Check;
  readonly context: ProbeContext;
}

/**
 * Runs a check and returns its result. Never rejects.
 *
 * @param remaining - milliseconds until the end of the run.
 */
export async function executeCheck(
  { check, context }: ScheduledCheck,
  options: RunChecksOptions,
  remaining: number,
): Promise<RuleResult> {
  const probe = new Probe({ ...context, prompts: context.prompts.forCheck() });
  const startedAt = performance.now();
  const { version, transport } = context.driver;
  const where = { version, transport: check.about === 'card' ? undefined : transport };
  const buildResult = (verdict: RuleVerdict, message: string, error?: RuleViolationError): RuleResult => {
    const recorded = [
      ...(error ? [{ message: error.message, evidence: error.evidence }] : []),
      ...probe.warnings,
    ];
    const violations = recorded.map(({ message: text, evidence }) => {
      const exchanges = (evidence.exchanges ?? probe.exchanges.slice(-3)).map(toEvidence);
      return toViolation(text, { ...evidence, exchanges });
    });
    const milliseconds = performance.now() - startedAt;
    return buildRuleResult(check, where, { verdict, message, violations, milliseconds });
  };
  const buildUndecided = (
    verdict: 'not-applicable' | 'inconclusive',
    error: NotApplicableError | InconclusiveError,
  ): RuleResult => {
    const { missing } = error;
    return { ...buildResult(verdict, error.messageWith(options.advise)), ...(missing ? { missing } : {}) };
  };
  try {
    requireCard(check, context);
    const unmet = findUnmetPrecondition(check.preconditions ?? [], context, options);
    if (unmet) throw unmet;
    if (remaining <= 0)
      throw new InconclusiveError('The time limit of the run was exceeded.', { kind: 'max-time' });
    const limit = Math.min(context.deadline * 2, remaining);
    try {
      await withDeadline(() => check.run(probe), limit, options.signal);
    } catch (error) {
      if (error instanceof RuleViolationError) await requireRightMessages(probe, limit, options.signal);
      throw error;
    }
    const [first] = probe.warnings;
    if (first) await requireRightMessages(probe, limit, options.signal);
    return first ? buildResult(verdictForLevel(check.level), first.message) : buildResult('pass', '');
  } catch (error) {
    if (error instanceof NotApplicableError) return buildUndecided('not-applicable', error);
    if (error instanceof InconclusiveError) return buildUndecided('inconclusive', error);
    if (error instanceof RuleViolationError)
      return buildResult(verdictForLevel(check.level), error.message, error);
    return buildResult('error', `Internal error of the suite: ${(error as Error).stack ?? String(error)}`);
  }
}

/** @throws InconclusiveError if a message that the user entered led to another state. */
async function requireRightMessages(
  { context }: Probe,
  limit: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  // The invariants do not depend on these messages.
  const probe = new Probe({ ...context, observe: () => {} });
  let misleading: InconclusiveError | undefined;
  const find = async (): Promise<void> => {
    misleading = await findMisleadingMessage(probe);
  };
  // An agent that does not answer has violated the rule.
  await withDeadline(find, limit, signal).catch(() => undefined);
  if (misleading) throw misleading;
}

/** @throws NotApplicableError or InconclusiveError if the check needs a card that the agent does not publish. */
function requireCard(
  { about, runsWithoutCard }: Check,
  { hasCard, cardVersion, driver: { version } }: ProbeContext,
): void {
  if (about !== 'card') return;
  if (!hasCard && !runsWithoutCard) throw new InconclusiveError('There is no readable agent card.');
  if (cardVersion !== version) throw new NotApplicableError(`The agent publishes no card of ${version}.`);
}

/** @throws InconclusiveError when the time is over */
function withDeadline(
  work: () => Promise<void>,
  milliseconds: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new InconclusiveError('The run was aborted.'));
    if (signal?.aborted) {
      abort();
      return;
    }
    const timer = setTimeout(
      () =>
        reject(
          new InconclusiveError(`The check took more than ${Math.round(milliseconds)} ms.`, {
            kind: 'timeout',
          }),
        ),
      milliseconds,
    );
    signal?.addEventListener('abort', abort);
    work()
      .then(resolve, reject)
      .finally(() => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
      });
  });
}
