import type { Command } from 'commander';
import { addAuth } from './auth-command.ts';
import { addCard } from './card-command.ts';
import { addChat } from './chat-command.ts';
import { addCompletion } from './completion-command.ts';
import { addConfig } from './config-command.ts';
import { addDemoServer } from './demo-server-command.ts';
import { addSend } from './send-command.ts';
import { addTask } from './task-command.ts';

/** Adds the commands that speak to an agent, and what goes with them. */
export function addClientCommands(program: Command): void {
  addSend(program);
  addCard(program);
  addTask(program);
  addChat(program);
  addAuth(program);
  addConfig(program);
  addDemoServer(program);
  addCompletion(program);
}

/** Tells a program what is wrong with a command line; commander has told a person already. */
export function tellUsage(words: readonly string[], message: string): void {
  const [command = ''] = words;
  const wantsJson = words.some((word, i) =>
    /^(-o|--output)$/.test(word) ? words[i + 1] === 'json' : /^(-ojson|--output=json)$/.test(word),
  );
  if (!wantsJson || !['send', 'card', 'task', 'chat', 'auth', 'config'].includes(command)) return;
  const error = {
    code: 'A2ACLI_ERR_USAGE',
    message: message.replace(/^error: /, ''),
    hint: 'Run it with --help to see what there is.',
    a2aCode: null,
  };
  process.stdout.write(`${JSON.stringify({ error })}\n`);
}
