import { testClientConformance } from '../../../conformance/clients/test-client-conformance.ts';
import { clientVariants } from '../../../conformance/clients/detect-support.ts';
import type { ClientOperation } from '../../../conformance/clients/client-under-test.ts';
import type { CheckedTransport, CheckedVersion, RequirementLevel } from '../../../conformance/rule-model.ts';
import { Redactor } from '../../../primitives/redaction/redaction.ts';
import { UsageError } from '../../terminal/usage-error.ts';
import { createProgressDisplay } from './progress.ts';
import { listTargets, loadReport, publishOutcome, type ReportFlags } from './run.ts';

/** Flags of `dragoman conformance client`. */
export interface ClientConformanceFlags extends ReportFlags {
  name?: string;
  operations: ClientOperation[];
  timeout: number;
  maxTime: number;
  concurrency: number;
  only: string[];
  level: 'must' | 'should' | 'may';
  transport: CheckedTransport[];
  a2aVersion: CheckedVersion[];
}

/** Runs `dragoman conformance client`. Exits with 1 if the client is not conformant and with 2 if that is unknown. */
export async function runClientConformanceCommand(
  command: readonly string[],
  flags: ClientConformanceFlags,
): Promise<void> {
  if (!command.some((word) => word.includes('{url}')))
    throw new UsageError(
      'The command does not contain {url}',
      'Write {url} where the command expects the URL of the agent, as in: dragoman conformance client -- my-client {url}',
    );
  const targets = listTargets(flags);
  const baseline = flags.baseline === undefined ? undefined : loadReport(flags.baseline);
  const progress = createProgressDisplay(process.stderr, flags.output === 'text');
  const { name, operations, timeout, maxTime, concurrency, transport, a2aVersion } = flags;
  const stop = new AbortController();
  const onInterrupt = (): void => stop.abort();
  process.once('SIGINT', onInterrupt).once('SIGTERM', onInterrupt);
  const outcome = await testClientConformance(
    {
      command,
      ...(name === undefined ? {} : { name }),
      ...(operations.length === 0 ? {} : { operations }),
    },
    {
      timeout,
      maxTime,
      concurrency,
      variants: clientVariants.filter(
        (variant) =>
          (transport.length === 0 || transport.includes(variant.transport)) &&
          (a2aVersion.length === 0 || a2aVersion.includes(variant.version)),
      ),
      only: flags.only.flatMap((each) => each.split(',')),
      level: flags.level.toUpperCase() as RequirementLevel,
      signal: stop.signal,
      onProgress: (done, total, last) => progress.update(done, total, last),
    },
  );
  process.off('SIGINT', onInterrupt).off('SIGTERM', onInterrupt);
  progress.clear();
  if (stop.signal.aborted) {
    process.stderr.write('aborted\n');
    process.exitCode = 130;
    return;
  }
  publishOutcome(outcome, { flags, targets, baseline, redactor: new Redactor() });
}
