import { type Command, InvalidArgumentError, Option } from 'commander';
import { addClientFlags } from '../../client/flags.ts';

const examples = `
Examples:
  $ dragoman send -a http://localhost:4000 "What is the time in Paris?"
  $ dragoman send -a agents.example.com "Write a report" --stream
  $ dragoman send -a agents.example.com "Summarise this" --file report.bin --media-type application/pdf
  $ echo '{"city":"Paris"}' | dragoman send -a agents.example.com --text "Weather?" --data -
  $ dragoman send -a agents.example.com --task-id 0197a3f2 "yes, go on"
  $ dragoman send -a agents.example.com "Write a report" --async -o json

It ends with 0 when the agent answered, whatever became of the task; with 2 for a mistake on the command line, 3 when
there is no agent, 4 when credentials are missing or wrong, 5 when the time was up, and 1 otherwise.`;

/** One piece of the message, as it was typed. */
export interface PartDraft {
  kind: 'text' | 'file' | 'data';
  value: string;
  mediaType?: string;
}

/** Adds `dragoman send`. */
export function addSend(program: Command): void {
  // Commander keeps each option by itself; what was typed first comes first.
  const parts: PartDraft[] = [];
  const part = (kind: PartDraft['kind'], flags: string, what: string) =>
    new Option(flags, what).argParser((value: string) => {
      parts.push({ kind, value });
      return value;
    });
  const command = program
    .command('send')
    .description('Sends a message to an agent, and waits for what comes of it.')
    .argument('[text]', 'what to say')
    .addOption(part('text', '--text <string>', 'a text part; repeatable'))
    .addOption(
      part('file', '--file <path>', 'a file part: a path, or a URL for the agent to fetch; repeatable'),
    )
    .addOption(
      part('data', '--data <path>', 'a data part from a JSON file, or - for standard input; repeatable'),
    )
    .addOption(
      new Option('--media-type <type>', 'the media type of the part before it').argParser((type: string) => {
        const last = parts.at(-1);
        if (!last) throw new InvalidArgumentError('It follows the part that it speaks of.');
        if (!/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(\s*;.*)?$/.test(type))
          throw new InvalidArgumentError('It is a media type, such as text/plain.');
        last.mediaType = type;
        return type;
      }),
    );
  addClientFlags(command, ['waiting', 'async', 'identifiers', 'metadata'])
    .addHelpText('after', examples)
    .action(async (text: string | undefined) => {
      const { runSendCommand: send } = await import('./run.ts');
      await send(command, text === undefined ? parts : [{ kind: 'text', value: text }, ...parts]);
    });
}
