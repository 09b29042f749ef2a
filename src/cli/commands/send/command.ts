import { type Command, InvalidArgumentError, Option } from 'commander';
import { addClientFlags } from '../../client/flags.ts';

const examples = `
Examples:
  $ dragoman send -a http://localhost:4000 "What is the time in Paris?"
  $ dragoman send -a agents.example.com "Write a report" --stream
  $ dragoman send -a agents.example.com "Summarize this" --file report.bin --media-type application/pdf
  $ echo '{"city":"Paris"}' | dragoman send -a agents.example.com --text "Weather?" --data -
  $ dragoman send -a agents.example.com --task-id 0197a3f2 "yes, continue"
  $ dragoman send -a agents.example.com "Write a report" --async -o json

Exits with 0 if the agent responded, whatever the state of the task, with 2 on usage errors, with 3 if the agent cannot be
reached, with 4 if credentials are missing or rejected, with 5 on a timeout, and with 1 on other errors.`;

/** A message part as typed on the command line. */
export interface PartDraft {
  kind: 'text' | 'file' | 'data';
  value: string;
  mediaType?: string;
}

/** Adds `dragoman send`. */
export function addSend(program: Command): void {
  // Commander stores each option separately; this list keeps the order of the parts.
  const parts: PartDraft[] = [];
  const partOption = (kind: PartDraft['kind'], flags: string, description: string) =>
    new Option(flags, description).argParser((value: string) => {
      parts.push({ kind, value });
      return value;
    });
  const command = program
    .command('send')
    .description('Send a message to an agent and wait for the result.')
    .argument('[text]', 'message text')
    .addOption(partOption('text', '--text <text>', 'message text to send as a part; repeatable'))
    .addOption(
      partOption('file', '--file <path>', 'file to attach: path, or URL that the agent fetches; repeatable'),
    )
    .addOption(
      partOption(
        'data',
        '--data <path>',
        'JSON file to send as a data part; - for standard input; repeatable',
      ),
    )
    .addOption(
      new Option('--media-type <type>', 'media type of the preceding part').argParser((type: string) => {
        const last = parts.at(-1);
        if (!last) throw new InvalidArgumentError('Put it after the --text, --file or --data it applies to.');
        if (!/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(\s*;.*)?$/.test(type))
          throw new InvalidArgumentError('Use a media type, such as text/plain.');
        last.mediaType = type;
        return type;
      }),
    );
  addClientFlags(command, ['waiting', 'async', 'identifiers', 'metadata'])
    .addHelpText('after', examples)
    .action(async (text: string | undefined) =>
      (await import('./run.ts')).runSendCommand(
        command,
        text === undefined ? parts : [{ kind: 'text', value: text }, ...parts],
      ),
    );
}
