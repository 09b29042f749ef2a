import type { Command } from 'commander';
import type { DoctorFlags } from './run.ts';
import { collectValues, outputOption, secondsOption } from '../../inputs/option-types.ts';

const examples = `
Examples:
  $ dragoman doctor https://agents.example.com/echo
  $ dragoman doctor http://localhost:4000 --header 'Authorization: Bearer …'

It ends with 0 when an agent answers, and with 1 when a step failed.`;

/** Adds `dragoman doctor`. */
export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description('Finds out why an agent does not answer: DNS, TLS, card, version, auth, message, stream.')
    .argument('<url>', 'the address of the agent, or of its card')
    .option(
      '--header <header>',
      "sent with every request, 'Name: value'; several are possible",
      collectValues,
      [],
    )
    .addOption(secondsOption('--timeout <seconds>', 'for one step', 15))
    .option('--text <text>', 'what to say to it (default: the first example of its card)')
    .option('--insecure', 'go on with a certificate that nobody vouches for', false)
    .addOption(outputOption())
    .addHelpText('after', examples)
    .action(async (url: string, flags: DoctorFlags) => {
      const { runDoctorCommand: consultDoctor } = await import('./run.ts');
      await consultDoctor(url, flags);
    });
}
