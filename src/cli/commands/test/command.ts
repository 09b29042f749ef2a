import { type Command, InvalidArgumentError, Option } from 'commander';
import { countParser } from '../../inputs/parse-count.ts';
import type { TestFlags } from './run.ts';

const examples = `
Examples:
  $ dragoman test scenarios
  $ dragoman test 'scenarios/**/*.yaml' --report junit --report-file results.xml
  $ dragoman test 'theirs/**/*.yaml' --compatible
  $ dragoman test scenarios --agent agent.js
  $ dragoman test scenarios --broker mqtt://localhost:1883

Exits with 0 if all cases passed, with 1 if a case failed, and with 2 if a file is invalid or no case is selected.`;

/** Adds `dragoman test`. */
export function addTest(program: Command): void {
  program
    .command('test')
    .description('Run scenario test files.')
    .argument('<patterns...>', 'files, directories, or patterns with *, ?, ** and {a,b}')
    .option('--compatible', 'support exactly the fields of the Solace Agent Mesh test runner', false)
    .addOption(
      new Option('--report <format>', 'report format').choices(['text', 'junit', 'json']).default('text'),
    )
    .option('--report-file <file>', 'file for the report (default: standard output)')
    .option('--filter <text>', 'text that the ID or description of a case must contain')
    .option('--tag <tag...>', 'tags to filter by; a case needs one of them')
    .addOption(
      new Option(
        '--parallel <n>',
        'number of cases to run at once (default: twice the number of CPU cores)',
      ).argParser(countParser(1_000)),
    )
    .addOption(
      new Option(
        '--harness <name>',
        'default test harness: mesh proxy, HTTP proxy or direct client; direct by default with --agent',
      )
        .choices(['mesh', 'http', 'direct'])
        .default('mesh'),
    )
    .addOption(
      new Option('--broker <url>', 'message broker of the mesh harness: memory, mqtt://… or nats://…')
        .argParser(parseBroker)
        .default('memory'),
    )
    .option('-a, --agent <agent>', 'agent to use: URL or module (default: mock agent that plays each case)')
    .addHelpText('after', examples)
    .action(async (patterns: string[], flags: TestFlags, command: Command) => {
      const { runTestCommand } = await import('./run.ts');
      // A test of one's own agent does not test the proxy, unless --harness is set.
      const isDirect = flags.agent !== undefined && command.getOptionValueSource('harness') === 'default';
      await runTestCommand(patterns, isDirect ? { ...flags, harness: 'direct' } : flags);
    });
}

function parseBroker(text: string): string {
  if (/^(?:memory$|(?:mqtts?|wss?|nats|tls):\/\/.)/.test(text)) return text;
  throw new InvalidArgumentError('Use memory, or a URL that starts with mqtt:// or nats://.');
}
