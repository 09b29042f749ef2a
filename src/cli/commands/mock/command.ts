import { type Command, Option } from 'commander';
import { countParser } from '../../inputs/parse-count.ts';
import {
  allowHostOption,
  corsOriginOption,
  basePathOption,
  hostOption,
  outputOption,
  portOption,
} from '../../inputs/shared-options.ts';
import type { MockFlags } from './run.ts';

const examples = `
Examples:
  $ dragoman mock
  $ dragoman mock script.yaml --port 0 --watch
  $ dragoman mock script.yaml --clock virtual --seed 7
  $ dragoman mock script.yaml -o json | head -1
  $ dragoman mock --replay traffic.jsonl --speaks 0.3 --timing recorded
  $ dragoman mock validate scripts

Without a script, the agent follows directives in messages ([test_case_id=…] and [responses_json=…]) and responses that
were queued at /__admin/prime.`;

/** Adds `dragoman mock`. */
export function addMock(program: Command): void {
  const mock = program
    .command('mock')
    .description('Start a mock agent controlled by a script, by message directives or by the admin API.')
    .argument('[script]', 'YAML file with rules')
    .addOption(portOption(0))
    .addOption(hostOption())
    .addOption(allowHostOption())
    .addOption(corsOriginOption())
    .addOption(basePathOption('; the card stays available at the root'))
    .addOption(
      new Option('--seed <n>', 'seed of the random generator (default: as in the script)').argParser(
        countParser(Number.MAX_SAFE_INTEGER, 0),
      ),
    )
    .addOption(
      new Option('--clock <kind>', 'clock: system time or virtual time (default: as in the script)').choices([
        'system',
        'virtual',
      ]),
    )
    .option(
      '--admin-allow <address...>',
      'client addresses allowed to use /__admin; * allows all (default: loopback only)',
    )
    .option('--no-admin', 'disable /__admin')
    .option(
      '--store <store>',
      'task store: memory, sqlite:FILE or postgres://…, with the options of dragoman serve (default: memory)',
    )
    .option('--watch', 'reload the script when it changes')
    .option('--replay <file>', 'answer like the agent in a file of dragoman tap --record')
    .option('--replay-agent <name>', 'agent to replay, if several were recorded')
    .addOption(
      new Option(
        '--match <mode>',
        'how requests are compared with recorded ones: by content, or by all members and in order',
      )
        .choices(['lenient', 'strict'])
        .default('lenient'),
    )
    .addOption(
      new Option('--timing <timing>', 'delays of a replay').choices(['none', 'recorded']).default('none'),
    )
    .addOption(
      new Option('--speaks <version>', 'the only protocol version of the agent (default: all)').choices([
        '1.0',
        '0.3',
        '0.2',
        '0.1',
      ]),
    )
    .addOption(outputOption())
    .addHelpText('after', examples)
    .action(async (script: string | undefined, flags: MockFlags) =>
      (await import('./run.ts')).runMockCommand(script, flags),
    );
  mock
    .command('validate')
    .description('Validate mock scripts and report errors with line and column.')
    .argument('<files...>', 'YAML files, directories, or patterns with *, ?, ** and {a,b}')
    .addHelpText(
      'after',
      '\nExamples:\n  $ dragoman mock validate scripts\n  $ dragoman mock validate travel.yaml',
    )
    .action(async (files: string[]) => (await import('./run.ts')).runMockValidateCommand(files));
}
