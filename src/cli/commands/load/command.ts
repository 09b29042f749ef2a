import { type Command, InvalidArgumentError, Option } from 'commander';
import { loadLimits, loadOperations } from '../../../load/load-plan.ts';
import { countParser } from '../../inputs/parse-count.ts';
import { parseDuration } from '../../inputs/parse-duration.ts';
import { transportParser } from '../../inputs/parse-transport.ts';
import { durationOption, headerOption, insecureOption, outputOption } from '../../inputs/shared-options.ts';
import type { LoadFlags } from './run.ts';

const examples = `
Examples:
  $ dragoman load http://localhost:4000
  $ dragoman load http://localhost:4000 --rate 200 --duration 30s
  $ dragoman load http://localhost:4000 --connections 50 --requests 10000
  $ dragoman load http://localhost:4000 --operation stream --text "Write a report" --rate 20
  $ dragoman load http://localhost:4000 --operation get --transport GRPC -o json

With --rate, requests are sent at this rate whatever the agent does, and latencies start at the intended send time: an
agent that stops for a second is seen by all requests of that second. Without it, each of the --connections clients sends
its next request after the response to the last one, which shows the greatest throughput but hides such a second.

Each send and each stream creates a task in the store of the agent. Ctrl-C ends the run early and prints the report.

Exits with 0 if a request succeeded, with 1 if none did, and with 2 on usage errors.`;

/** Adds `dragoman load`. */
export function addLoad(program: Command): void {
  program
    .command('load')
    .description('Send many requests to an agent and report throughput, latencies and errors.')
    .argument('<url>', 'URL of the agent or of its card; on this machine')
    .addOption(
      new Option('--operation <operation>', 'operation to call').choices(loadOperations).default('send'),
    )
    .addOption(
      new Option('--rate <n>', 'requests per second, independent of responses (open loop)').argParser(
        parseRate,
      ),
    )
    .addOption(
      new Option(
        '--connections <n>',
        'clients that send one request after the other; with --rate, maximum number of open requests (default: 10; with --rate 256)',
      ).argParser(countParser(loadLimits.connections)),
    )
    .addOption(
      new Option(
        '--duration <duration>',
        'time in which requests are sent, up to 1h (default: 10s; with --requests 1h)',
      ).argParser(parseDuration),
    )
    .addOption(
      new Option('--requests <n>', 'number of requests to send').argParser(countParser(loadLimits.requests)),
    )
    .addOption(durationOption('--warm-up <duration>', 'time before that, which is not measured', '1s'))
    .addOption(durationOption('--timeout <duration>', 'time limit of one request', '30s'))
    .addOption(new Option('--text <text>', 'message text to send').default('hello'))
    .option('--task-id <id>', 'task ID to read with get (default: a new task)')
    .addOption(
      new Option('--a2a-version <version>', 'A2A version (default: first of the card)').choices([
        '1.0',
        '0.3',
        '0.2',
        '0.1',
      ]),
    )
    .addOption(
      new Option(
        '--transport <transport>',
        'transport to use: JSONRPC, HTTP+JSON or GRPC; repeatable, in order of preference',
      )
        .argParser(transportParser(['JSONRPC', 'HTTP+JSON', 'GRPC']))
        .default([], 'order of the card'),
    )
    .addOption(headerOption())
    .addOption(insecureOption())
    .option('--allow-remote', 'allow agents on other hosts; only with the consent of their operator', false)
    .addOption(outputOption())
    .addHelpText('after', examples)
    .action(async (url: string, flags: LoadFlags) => (await import('./run.ts')).runLoadCommand(url, flags));
}

function parseRate(text: string): number {
  const rate = Number(text);
  if (/^\d{1,5}(?:\.\d{1,3})?$/.test(text) && rate >= 0.1 && rate <= loadLimits.rate) return rate;
  throw new InvalidArgumentError(`Use a number from 0.1 to ${loadLimits.rate}.`);
}
