import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ActionsFlags, InvokeFlags } from './run.ts';

const examples = `
Examples:
  $ dragoman actions list --agent http://localhost:4000
  $ dragoman actions invoke echo/default "How are you?" --agent http://localhost:4000
  $ dragoman actions invoke weather/forecast city=Oslo days=2 --agent weather=https://weather.example.com
  $ dragoman actions invoke echo/default "Read this" --file notes.txt --agent http://localhost:4000 -o json

Where an agent asks something, its follow-up ID is good for the next command with the same --follow-ups file:
  $ dragoman actions invoke provide_required_input follow_up_id=ID user_response=yes --follow-ups open.db --agent …

It ends with 0 when the call succeeded, with 1 when it did not, and with 2 when the command is not as it should be.`;

/** Declares the commands that list and call the actions of agents. */
export function addActions(program: Command): void {
  const actions = program
    .command('actions')
    .description('Lists and calls the skills of agents as functions.')
    .addHelpText('after', examples);
  withAgents(actions.command('list').description('Lists the actions of agents.')).action(
    async (flags: ActionsFlags) => {
      const { runActionsListCommand: listActions } = await import('./run.ts');
      await listActions(flags);
    },
  );
  withAgents(actions.command('invoke').description('Calls an action and prints its answer.'))
    .argument('<action>', 'such as agent_name/skill_id, or provide_required_input')
    .argument('[parameters...]', 'the prompt, or name=value for each parameter; a value may be JSON')
    .option('--file <path>', 'a file to send along; may come again', more)
    .option('--session <id>', 'the conversation that the call belongs to')
    .option('--follow-ups <file>', 'where questions are kept between two commands')
    .addOption(
      new Option('--wait <seconds>', 'how long to wait for an answer').argParser(secondsOf).default(300),
    )
    .action(async (action: string, parameters: string[], flags: InvokeFlags) => {
      const { runActionsInvokeCommand: invokeAction } = await import('./run.ts');
      await invokeAction(action, parameters, flags);
    });
}

function withAgents(command: Command): Command {
  return command
    .requiredOption('--agent <where>', 'the URL of an agent, or name=URL to name it; may come again', more)
    .option('--token-env <name>', 'the environment variable with a bearer token for the agents')
    .addOption(new Option('-o, --output <form>', 'how to print').choices(['text', 'json']).default('text'))
    .addHelpText('after', examples);
}

/** An option that may come again and again. */
function more(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

function secondsOf(text: string): number {
  const seconds = Number(text);
  if (text.trim() !== '' && seconds > 0 && seconds <= 86_400) return seconds;
  throw new InvalidArgumentError('It is a number of seconds up to 86400.');
}
