import { diagnose, type DiagnosisStep } from '../../../conformance/doctor/diagnose.ts';
import { Redactor } from '../../../primitives/redaction.ts';
import { createColors } from '../../terminal/colors.ts';
import { parseHeaders } from '../../inputs/parse-headers.ts';

/** What `dragoman doctor` is told. */
export interface DoctorFlags {
  header: string[];
  timeout: number;
  text?: string;
  insecure: boolean;
  o: 'text' | 'json';
}

/** Says step by step whether an agent can be reached, and what to do where it cannot. */
export async function runDoctorCommand(
  url: string,
  { header, timeout, text, insecure, o }: DoctorFlags,
): Promise<void> {
  const headers = parseHeaders(header);
  const found = await diagnose(url, { headers, timeout, insecure, ...(text === undefined ? {} : { text }) });
  const steps = new Redactor(headers).redactDeep(found);
  process.stdout.write(o === 'json' ? `${JSON.stringify({ url, steps })}\n` : textOf(steps));
  if (steps.some(({ state }) => state === 'error')) process.exitCode = 1;
}

function textOf(steps: readonly DiagnosisStep[]): string {
  const { green, red, dim, bold } = createColors(process.stdout);
  const signs = { ok: green('ok     '), error: red('error  '), skipped: dim('-      ') };
  const lines = steps.flatMap(({ name, state, finding: what, fix }) => [
    `${signs[state]}  ${name.padEnd(7)}  ${what.replaceAll(/\s+/g, ' ').slice(0, 300)}`,
    ...(fix === undefined ? [] : [`         ${bold('to do')}    ${fix}`]),
  ]);
  const isWell = steps.every(({ state }) => state !== 'error');
  return [
    ...lines,
    isWell ? 'It works. `dragoman conformance` says how well.' : 'Mend that, and ask again.',
    '',
  ].join('\n');
}
