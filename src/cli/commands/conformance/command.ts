import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ConformanceFlags, MatrixFlags } from './run.ts';
import { collectValues, outputOption, secondsOption } from '../../inputs/option-types.ts';
import { parsePort } from '../../inputs/parse-port.ts';
import type { SelfTestFlags } from './self-test.ts';

const examples = `
Examples:
  $ dragoman conformance http://localhost:4000
  $ dragoman conformance -a localhost:4000 -o json
  $ dragoman conformance https://agents.example.com/echo --header 'Authorization: Bearer …' --report html=report.html
  $ dragoman conformance http://localhost:4000 --fixtures fx --report junit --report sarif --output results
  $ dragoman conformance http://localhost:4000 --only 3.1.1 --only stream --level must
  $ dragoman conformance http://localhost:4000 --second http://localhost:5000
  $ dragoman conformance diff before.json after.json
  $ dragoman conformance matrix http://localhost:4000 http://localhost:5000 --output matrix.html

A scenario file says which message leads where, so that more can be tried:
  completed: What is the time in Paris?
  input-required: Book me a flight
  slow: { text: Write a long report }

It ends with 0 when the agent is conformant, with 1 when it is not, and with 2 when that could not be found out.`;

/** Adds `dragoman conformance`. */
export function addConformance(program: Command): void {
  // What follows the name of a command below belongs to that, and the program must pass it on in its order.
  const command = program
    .enablePositionalOptions()
    .command('conformance')
    .description('Proves whether an agent speaks A2A, in every version and transport of its card.')
    .argument('[url]', 'the address of the agent, or of its card')
    .option('-a, --agent-card <ref>', 'the same as a flag, as the client commands have it; a host will do')
    .enablePositionalOptions();
  addConnection(command);
  addChoice(command);
  command
    .option('--second <url>', 'another agent: do the two get on?')
    .option(
      '--second-header <header>',
      'the credentials for that one; several are possible',
      collectValues,
      [],
    )
    .option('--delegate <words>', 'how the agent is told to ask another, with {url} and {text}, or its skill')
    .addOption(
      new Option(
        '--report <form>',
        'json, markdown, junit, html, sarif or badge; =FILE says where; several are possible',
      )
        .argParser(collectValues)
        .default([], 'text'),
    )
    .option('--output <directory>', 'where reports without a file of their own go')
    .option('--strict', 'what could not be learned is a failure', false)
    .option('--baseline <report.json>', 'only what is worse than in this report is a failure')
    .addOption(outputOption())
    .addHelpText('after', examples)
    .action(async (url: string | undefined, flags: ConformanceFlags) => {
      const { runConformanceCommand: checkConformance } = await import('./run.ts');
      await checkConformance(url, flags);
    });
  addOthers(command);
}

function addConnection(command: Command): void {
  command
    .option(
      '--header <header>',
      "sent with every request, 'Name: value'; several are possible",
      collectValues,
      [],
    )
    .option(
      '--other-header <header>',
      'the credentials of somebody else, to see what they can see',
      collectValues,
      [],
    )
    .option(
      '--limited-header <header>',
      'the credentials of somebody who may not send messages, to see what they are told',
      collectValues,
      [],
    )
    .addOption(secondsOption('--timeout <seconds>', 'for one task', 60))
    .addOption(secondsOption('--max-time <seconds>', 'for everything', 600))
    .addOption(
      new Option('--max-messages <number>', 'how many messages may be sent in all')
        .argParser(countOf)
        .default(2_000),
    )
    .option('--webhook-url <url>', 'how the agent reaches this machine (default: on loopback)')
    .addOption(
      new Option(
        '--webhook-port <port>',
        'where to listen for that (default: the port in the address)',
      ).argParser(parsePort),
    )
    .option('--insecure', 'take a certificate that nobody vouches for', false);
}

function addChoice(command: Command): void {
  command
    .option('--skill <id>', 'only use the examples of this skill; several are possible', collectValues, [])
    .addOption(new Option('--fixtures <kind>', 'texts that the agent obeys').choices(['fx', 'tck']))
    .option('--scenario <file>', 'which message leads where')
    .option(
      '--only <rule>',
      'a rule, an area, a section or a requirement; several are possible',
      collectValues,
      [],
    )
    .addOption(
      new Option('--level <level>', 'the weakest rules to look at')
        .choices(['must', 'should', 'may'])
        .default('may'),
    )
    .addOption(
      new Option('--transport <name>', 'only this one; several are possible')
        .argParser(transportOf)
        .default([], 'those of the card'),
    )
    .addOption(
      new Option('--a2a-version <version>', 'only this one; several are possible')
        .argParser(versionOf)
        .default([], 'those of the card'),
    );
}

function addOthers(command: Command): void {
  command
    .command('selftest')
    .description('Proves the suite: every broken agent must be caught, and a correct one must pass.')
    .option('--only <rule>', 'a rule or an area; several are possible', collectValues, [])
    .addOption(outputOption())
    .addHelpText(
      'after',
      '\nExamples:\n  $ dragoman conformance selftest\n  $ dragoman conformance selftest --only stream',
    )
    .action(async (flags: SelfTestFlags) => {
      const { runSelfTestCommand: testSelf } = await import('./self-test.ts');
      await testSelf(flags);
    });
  command
    .command('diff')
    .description('Tells what changed from one report to another; ends with 1 when something got worse.')
    .argument('<before>', 'a report as JSON')
    .argument('<after>', 'a report as JSON')
    .addOption(outputOption())
    .addHelpText('after', '\nExamples:\n  $ dragoman conformance diff before.json after.json')
    .action(async (before: string, after: string, flags: { o: 'text' | 'json' }) => {
      const { runConformanceDiffCommand: diffReports } = await import('./run.ts');
      diffReports(before, after, flags);
    });
  command
    .command('matrix')
    .description('Lets every agent speak to every other, and makes one page of it.')
    .argument('<urls...>', 'the addresses of the agents')
    .option(
      '--header <header>',
      "sent with every request, 'Name: value'; several are possible",
      collectValues,
      [],
    )
    .addOption(secondsOption('--timeout <seconds>', 'for one task', 60))
    .option('--output <file>', 'where the page goes')
    .option('--insecure', 'take certificates that nobody vouches for', false)
    .addOption(outputOption())
    .addHelpText(
      'after',
      '\nExamples:\n  $ dragoman conformance matrix http://localhost:4000 http://localhost:5000 --output matrix.html',
    )
    .action(async (urls: string[], flags: MatrixFlags) => {
      const { runConformanceMatrixCommand: showMatrix } = await import('./run.ts');
      await showMatrix(urls, flags);
    });
}

function countOf(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= 1_000_000) return count;
  throw new InvalidArgumentError('It is a number from 1 to 1000000.');
}

function transportOf(text: string, before: readonly string[]): string[] {
  const names: { readonly [name: string]: string } = {
    jsonrpc: 'JSONRPC',
    'json-rpc': 'JSONRPC',
    rest: 'HTTP+JSON',
    'http+json': 'HTTP+JSON',
  };
  const name = names[text.toLowerCase()];
  if (name === undefined) throw new InvalidArgumentError('It is JSONRPC or HTTP+JSON.');
  return [...before, name];
}

function versionOf(text: string, before: readonly string[]): string[] {
  if (['1.0', '0.3', '0.1'].includes(text)) return [...before, text];
  throw new InvalidArgumentError('It is 1.0, 0.3 or 0.1.');
}
