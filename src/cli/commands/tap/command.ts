import { type Command, Option } from 'commander';
import {
  allowHostOption,
  corsOriginOption,
  hostOption,
  outputOption,
  portOption,
  sessionsOption,
} from '../../inputs/shared-options.ts';
import type { TapFlags } from './run.ts';

const examples = `
Examples:
  $ dragoman tap --to http://localhost:4000
  $ dragoman tap --to https://agents.example.com/echo --port 4100 --record traffic.jsonl
  $ dragoman tap --to http://localhost:4000 --console
  $ dragoman tap --read traffic.jsonl
  $ dragoman tap --read traffic.jsonl --diff 0.3
  $ dragoman tap --read traffic.jsonl -o scenario > scenario.yaml
  $ dragoman tap --read traffic.jsonl -o har > traffic.har
  $ dragoman mock --replay traffic.jsonl

Clients use the printed URL instead of the URL of the agent. Credentials are forwarded but not recorded. The console can
also open a recorded file.`;

/** Adds `dragoman tap`. */
export function addTap(program: Command): void {
  program
    .command('tap')
    .description('Run a recording proxy in front of an agent and print all traffic.')
    .option('--to <url>', 'URL of the agent')
    .addOption(portOption(0))
    .addOption(hostOption())
    .addOption(allowHostOption())
    .addOption(corsOriginOption())
    .option('--record <file>', 'file to which recorded traffic is appended')
    .option('--read <file>', 'recorded file or HTTP archive (HAR) to print, instead of running a proxy')
    .addOption(
      new Option('--diff [version]', 'also print each message beside its translation into a version')
        .choices(['1.0', '0.3', '0.2', '0.1'])
        .preset('1.0'),
    )
    .option('--console', 'also open the web console with the traffic', false)
    .addOption(sessionsOption())
    .addOption(outputOption(['text', 'json', 'scenario', 'har'], '; scenario and har only with --read'))
    .addHelpText('after', examples)
    .action(async (flags: TapFlags) => (await import('./run.ts')).runTapCommand(flags));
}
