import { type Command, Option } from 'commander';
import { parsePositiveDuration } from '../../inputs/parse-duration.ts';
import { transportParser } from '../../inputs/parse-transport.ts';
import { durationOption, headerOption, insecureOption, outputOption } from '../../inputs/shared-options.ts';
import type { DoctorFlags } from './run.ts';

const examples = `
Examples:
  $ dragoman doctor https://agents.example.com/echo
  $ dragoman doctor http://localhost:4000 --transport GRPC
  $ dragoman doctor http://localhost:4000 --grpc localhost:50051
  $ dragoman doctor http://localhost:4000 --header 'Authorization: Bearer …'

Exits with 0 if the agent responds, with 1 if a step failed, and with 2 on usage errors.`;

/** Adds `dragoman doctor`. */
export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description(
      'Diagnose connection problems step by step: DNS, TLS, card, version, gRPC, auth, message, stream.',
    )
    .argument('<url>', 'URL of the agent or of its card')
    .addOption(headerOption())
    .addOption(
      durationOption(
        '--timeout <duration>',
        'time limit of one step, such as 90s or 5m',
        '15s',
        parsePositiveDuration,
      ),
    )
    .addOption(
      new Option(
        '--transport <transport>',
        'transport to use: JSONRPC, HTTP+JSON or GRPC (default: first of the card)',
      ).argParser((text: string) => transportParser(['JSONRPC', 'HTTP+JSON', 'GRPC'])(text, []).at(-1)),
    )
    .option('--grpc <address>', 'address of gRPC to use in place of that of the card: host:port or URL')
    .option('--text <text>', 'message text to send (default: first example of the card)')
    .addOption(insecureOption())
    .addOption(outputOption())
    .addHelpText('after', examples)
    .action(async (url: string, flags: DoctorFlags) =>
      (await import('./run.ts')).runDoctorCommand(url, flags),
    );
}
