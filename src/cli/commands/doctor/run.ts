import { diagnose, type DiagnosisStep } from '../../../conformance/doctor/diagnose.ts';
import type { CheckedTransport } from '../../../conformance/rule-model.ts';
import { Redactor } from '../../../primitives/redaction/redaction.ts';
import { createColors } from '../../terminal/colors.ts';
import { expectUrl } from '../../inputs/expect-url.ts';
import type { OutputFormat } from '../../inputs/shared-options.ts';
import { parseHeaders } from '../../inputs/parse-headers.ts';

/** Flags of `dragoman doctor`. */
export interface DoctorFlags {
  header: string[];
  timeout: number;
  text?: string;
  transport?: CheckedTransport;
  grpc?: string;
  insecure: boolean;
  output: OutputFormat;
}

/** Runs `dragoman doctor`. Exits with 1 if a step failed. */
export async function runDoctorCommand(
  url: string,
  { header, timeout, text, transport, grpc, insecure, output }: DoctorFlags,
): Promise<void> {
  expectUrl(url);
  const headers = parseHeaders(header);
  const diagnosis = await diagnose(url, {
    headers,
    timeout,
    insecure,
    ...(text === undefined ? {} : { text }),
    ...(transport === undefined ? {} : { transport }),
    ...(grpc === undefined ? {} : { grpcAddress: grpc }),
  });
  const steps = new Redactor(headers).redactDeep(diagnosis);
  process.stdout.write(output === 'json' ? `${JSON.stringify({ url, steps })}\n` : formatSteps(steps));
  if (steps.some(({ state }) => state === 'error')) process.exitCode = 1;
}

function formatSteps(steps: readonly DiagnosisStep[]): string {
  const { green, red, dim, bold } = createColors(process.stdout);
  const labels = { ok: green('ok     '), error: red('error  '), skipped: dim('-      ') };
  const lines = steps.flatMap(({ name, state, finding, fix }) => [
    `${labels[state]}  ${name.padEnd(7)}  ${finding.replaceAll(/\s+/g, ' ').slice(0, 300)}`,
    ...(fix === undefined ? [] : [`         ${bold('fix')}      ${fix}`]),
  ]);
  const isHealthy = steps.every(({ state }) => state !== 'error');
  return [
    ...lines,
    isHealthy
      ? 'The agent responds. Run dragoman conformance to test it for conformance.'
      : 'Fix the failed step and run dragoman doctor again.',
    '',
  ].join('\n');
}
