import type { Command } from 'commander';
import { addClientFlags } from '../../client/flags.ts';

const examples = `
Examples:
  $ dragoman chat -a http://localhost:4000
  $ dragoman chat -a agents.example.com --context-id 0197a3f2
  $ printf 'hello\\nhow are you?\\n' | dragoman chat -a http://localhost:4000

Commands at the prompt: /new starts a new context, /cancel cancels the interrupted task, /ids prints the context and task
IDs, /exit ends the chat.`;

/** Adds `dragoman chat`. */
export function addChat(program: Command): void {
  const chat = program
    .command('chat')
    .description('Start an interactive chat that keeps the context and task between turns.');
  addClientFlags(chat, ['waiting', 'identifiers'])
    .addHelpText('after', examples)
    .action(async () => (await import('./run.ts')).runChatCommand(chat));
}
