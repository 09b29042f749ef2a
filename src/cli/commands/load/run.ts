import { createLoadPlan, type LoadOperation } from '../../../load/load-plan.ts';
import type { LoadReport } from '../../../load/load-report.ts';
import { checkLoopbackTarget, type LoadTarget, openLoadTarget } from '../../../load/load-target.ts';
import { runLoad } from '../../../load/run-load.ts';
import type { ProtocolVersion, Transport } from '../../../protocol/card.ts';
import { A2AError } from '../../../protocol/errors.ts';
import { expectUrl } from '../../inputs/expect-url.ts';
import { parseHeaders } from '../../inputs/parse-headers.ts';
import type { OutputFormat } from '../../inputs/shared-options.ts';
import { terminalSafeJson } from '../../terminal/sanitize.ts';
import { UsageError } from '../../terminal/usage-error.ts';
import { formatLoadReport } from './format-load-report.ts';
import { createLoadDisplay } from './progress.ts';

/** Flags of `dragoman load`. */
export interface LoadFlags {
  operation: LoadOperation;
  rate?: number;
  connections?: number;
  duration?: number;
  requests?: number;
  warmUp: number;
  timeout: number;
  text: string;
  taskId?: string;
  a2aVersion?: ProtocolVersion;
  transport: Transport[];
  header: string[];
  insecure: boolean;
  allowRemote: boolean;
  output: OutputFormat;
}

/** Runs `dragoman load`. Exits with 1 if no request succeeded. */
export async function runLoadCommand(address: string, flags: LoadFlags): Promise<void> {
  const url = expectUrl(address);
  if (!flags.allowRemote) refuseRemoteTarget(url);
  const plan = readPlan(flags);
  // The first signal ends the run, the second one the process.
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  process.once('SIGINT', onSignal);
  process.once('SIGTERM', onSignal);
  const display = createLoadDisplay(process.stderr);
  let target: LoadTarget | undefined;
  try {
    target = await connectTarget(url, flags, plan.connections, stop.signal);
    const report = await runLoad(plan, target.perform, {
      signal: stop.signal,
      onProgress: (progress) => display.update(progress),
    });
    display.clear();
    printReport(report, target, flags.output);
    if (report.succeeded === 0) process.exitCode = 1;
  } finally {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
    await target?.close();
  }
}

function refuseRemoteTarget(url: string): void {
  try {
    checkLoopbackTarget(url);
  } catch (thrown) {
    const { message, hint = '' } = A2AError.from(thrown);
    throw new UsageError(message, `${hint} If its operator agrees, add --allow-remote.`);
  }
}

function readPlan(flags: LoadFlags) {
  try {
    return createLoadPlan(flags);
  } catch (thrown) {
    const { message } = A2AError.from(thrown);
    throw new UsageError(message, 'Run dragoman load --help for the limits.', { cause: thrown });
  }
}

function connectTarget(
  url: string,
  flags: LoadFlags,
  connections: number,
  signal: AbortSignal,
): Promise<LoadTarget> {
  const { operation, text, taskId, allowRemote, header, insecure, a2aVersion, transport } = flags;
  return openLoadTarget(url, {
    operation,
    text,
    taskId,
    allowRemote,
    connections,
    signal,
    client: {
      headers: parseHeaders(header),
      ...(insecure && { tls: { verify: false } }),
      ...(a2aVersion && { versions: [a2aVersion] }),
      ...(transport.length > 0 && { transports: transport }),
    },
  });
}

function printReport(report: LoadReport, { description }: LoadTarget, output: OutputFormat): void {
  const { url, version, transport } = description;
  const text =
    output === 'json'
      ? `${terminalSafeJson({ url, version, transport, ...report }, 2)}\n`
      : formatLoadReport(report, { url, version, transport });
  process.stdout.write(text);
}
