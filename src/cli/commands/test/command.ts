import { type Command, InvalidArgumentError, Option } from 'commander';
import type { TestFlags } from './run.ts';

const examples = `
Examples:
  $ dragoman test scenarios
  $ dragoman test 'scenarios/**/*.yaml' --report junit --output results.xml
  $ dragoman test 'theirs/**/*.yaml' --compatible
  $ dragoman test scenarios --agent agent.js
  $ dragoman test scenarios --link mqtt://localhost:1883

It ends with 0 when nothing failed, with 1 when a case failed, and with 2 when there is nothing to run or a file is
not as it should be.`;

/** Adds `dragoman test`. */
export function addTest(program: Command): void {
  program
    .command('test')
    .description('Runs scenario files: one case each, or a list of cases.')
    .argument('<patterns...>', 'files, directories, or patterns with *, ?, ** and {a,b}')
    .option('--compatible', 'honour exactly what the runner of the Solace Agent Mesh honours', false)
    .addOption(
      new Option('--report <form>', 'how to tell the results')
        .choices(['text', 'junit', 'json'])
        .default('text'),
    )
    .option('--output <file>', 'write the report there instead of to standard output')
    .option('--filter <text>', 'only cases whose id or description contains it')
    .option('--tag <tag...>', 'only cases with one of these tags')
    .addOption(
      new Option(
        '--parallel <number>',
        'how many cases run at once (default: twice the number of cores)',
      ).argParser(countOf),
    )
    .addOption(
      new Option(
        '--rig <name>',
        'what stands between caller and agent, where a case does not say; direct with --agent',
      )
        .choices(['mesh', 'http', 'direct'])
        .default('mesh'),
    )
    .addOption(
      new Option('--link <url>', 'the broker of the mesh: memory, mqtt://… or nats://…')
        .argParser(linkOf)
        .default('memory'),
    )
    .option(
      '--agent <where>',
      'the agent to test, a URL or a module, instead of one that plays what a case says',
    )
    .addHelpText('after', examples)
    .action(async (patterns: string[], flags: TestFlags, command: Command) => {
      const { runTestCommand: testFiles } = await import('./run.ts');
      // Whoever tests an agent of his own does not test the proxy, unless he says so.
      const isOwn = flags.agent !== undefined && command.getOptionValueSource('rig') === 'default';
      await testFiles(patterns, isOwn ? { ...flags, rig: 'direct' } : flags);
    });
}

function countOf(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= 1_000) return count;
  throw new InvalidArgumentError('It is a number from 1 to 1000.');
}

function linkOf(text: string): string {
  if (/^(?:memory$|(?:mqtts?|wss?|nats|tls):\/\/.)/.test(text)) return text;
  throw new InvalidArgumentError('It is memory, or a URL that begins with mqtt:// or nats://.');
}
