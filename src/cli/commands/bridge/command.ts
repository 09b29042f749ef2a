import { type Command, Option } from 'commander';
import { parsePositiveDuration } from '../../inputs/parse-duration.ts';
import {
  agentOption,
  durationOption,
  logOption,
  outputOption,
  portOption,
  credentialOriginOption,
  repeatableOption,
} from '../../inputs/shared-options.ts';
import type { BridgeFlags } from './run.ts';

const examples = `
Examples:
  $ dragoman bridge --agent https://weather.example.com --mcp stdio
  $ dragoman bridge --agent weather=https://weather.example.com --agent maps=http://localhost:4001 --mcp http --port 4100
  $ dragoman bridge --command "node agent.js" --command-url http://localhost:4000 --mcp stdio
  $ dragoman bridge --config bridge.yaml --mcp stdio
  $ dragoman bridge --agent weather=https://weather.example.com --bearer-env weather=WEATHER_TOKEN --mcp stdio
  $ dragoman bridge --agent https://weather.example.com --header 'X-Key: \${WEATHER_KEY}' --mcp stdio

Pass credentials through environment variables, so that neither the MCP host configuration nor the process list contains
them: --bearer-env names a variable, and \${NAME} in a header is replaced by the variable NAME.`;

/** Adds `dragoman bridge`. */
export function addBridge(program: Command): void {
  program
    .command('bridge')
    .description('Expose agent skills as MCP tools.')
    .addOption(agentOption())
    .option('-c, --config <file>', 'configuration file in YAML with agents and the commands that start them')
    .option('--command <line>', 'command that starts the agent at --command-url; restarted when it exits')
    .option('--command-url <url>', 'URL of the agent that --command starts, or name=URL')
    .addOption(
      new Option('--mcp <transport>', 'MCP transport').choices(['stdio', 'http']).makeOptionMandatory(),
    )
    .addOption(portOption(4100, ', with --mcp http'))
    .addOption(
      repeatableOption(
        '-H, --header <header>',
        "HTTP header 'Name: value' for each request; name=header for one agent, ${VAR} is replaced",
      ),
    )
    .addOption(
      repeatableOption(
        '--bearer-env <variable>',
        'environment variable with the bearer token; name=VARIABLE for one agent',
      ),
    )
    .addOption(credentialOriginOption())
    .option(
      '--client-token-env <variable>',
      'environment variable with the bearer token that MCP clients must send, with --mcp http',
    )
    .addOption(
      durationOption(
        '--max-wait <duration>',
        'maximum time to wait for a result before a call returns a follow-up ID',
        '50s',
        parsePositiveDuration,
      ),
    )
    .addOption(
      durationOption(
        '--card-interval <duration>',
        'time between checks of the agent cards for changed skills',
        '60s',
        parsePositiveDuration,
      ),
    )
    .option(
      '--store <store>',
      'task store, which keeps follow-ups: memory, sqlite:FILE or postgres://…, which several bridges may share (default: memory)',
    )
    .addOption(outputOption(['text', 'json'], '; json only with --mcp http'))
    .addOption(logOption('').default('text'))
    .addHelpText('after', examples)
    .action(async (flags: BridgeFlags) => (await import('./run.ts')).runBridgeCommand(flags));
}
