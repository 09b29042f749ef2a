import type { Command } from 'commander';
import { parsePositiveDuration } from '../../inputs/parse-duration.ts';
import {
  agentOption,
  credentialOriginOption,
  durationOption,
  outputOption,
  repeatableOption,
} from '../../inputs/shared-options.ts';
import type { ActionsFlags, InvokeFlags } from './run.ts';

const examples = `
Examples:
  $ dragoman actions list --agent http://localhost:4000
  $ dragoman actions invoke echo/default "How are you?" --agent http://localhost:4000
  $ dragoman actions invoke weather/forecast city=Oslo days=2 --agent weather=https://weather.example.com
  $ dragoman actions invoke echo/default "Read this" --file notes.txt --agent http://localhost:4000 -o json

If an agent requests input, the response contains a follow-up ID. Pass it on with the same --follow-ups:
  $ dragoman actions invoke provide_required_input follow_up_id=ID user_response=yes --follow-ups open.db --agent …

Exits with 0 if the call succeeded, with 1 if it failed, and with 2 on usage errors.`;

/** Adds `dragoman actions`. */
export function addActions(program: Command): void {
  const actions = program
    .command('actions')
    .description('List and invoke agent skills as functions.')
    .addHelpText('after', examples);
  addAgentFlags(actions.command('list').description('List the actions of one or more agents.')).action(
    async (flags: ActionsFlags) => (await import('./run.ts')).runActionsListCommand(flags),
  );
  addAgentFlags(actions.command('invoke').description('Invoke an action and print its response.'))
    .argument('<action>', 'name such as agent_name/skill_id, or provide_required_input')
    .argument('[parameters...]', 'prompt, or name=value for each parameter; values may be JSON')
    .addOption(repeatableOption('--file <path>', 'file to attach'))
    .option('--session <id>', 'session ID that groups calls into one conversation')
    .option('--follow-ups <store>', 'SQLite file or postgres://… that stores follow-ups between commands')
    .addOption(
      durationOption(
        '--max-wait <duration>',
        'maximum time to wait for a result, such as 90s or 5m',
        '5m',
        parsePositiveDuration,
      ),
    )
    .action(async (action: string, parameters: string[], flags: InvokeFlags) =>
      (await import('./run.ts')).runActionsInvokeCommand(action, parameters, flags),
    );
}

function addAgentFlags(command: Command): Command {
  return command
    .addOption(agentOption().makeOptionMandatory())
    .option('--bearer-env <variable>', 'environment variable with the bearer token, for all agents')
    .addOption(credentialOriginOption())
    .addOption(outputOption())
    .addHelpText('after', examples);
}
