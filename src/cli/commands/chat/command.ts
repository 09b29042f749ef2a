import type { Command } from 'commander';
import { addClientFlags } from '../../client/flags.ts';

const examples = `
Examples:
  $ dragoman chat -a http://localhost:4000
  $ dragoman chat -a agents.example.com --context-id 0197a3f2
  $ printf 'hello\\nhow are you?\\n' | dragoman chat -a http://localhost:4000

At the prompt: /new begins another context, /cancel ends the task that waits, /ids shows identifiers, /exit leaves.`;

/** Adds `dragoman chat`. */
export function addChat(program: Command): void {
  const chat = program
    .command('chat')
    .description('Talks with an agent, turn by turn, and stays in the context and the task.');
  addClientFlags(chat, ['waiting', 'identifiers'])
    .addHelpText('after', examples)
    .action(async () => {
      const { runChatCommand: chatWith } = await import('./run.ts');
      await chatWith(chat);
    });
}
