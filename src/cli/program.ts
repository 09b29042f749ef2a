import { Command } from 'commander';
import { packageVersion } from '../documents/package-version.ts';

/** Loads what declares a command. */
type Declaration = () => Promise<(program: Command) => void>;

/** The commands that are our own, in the order of the help. */
const own: { readonly [name: string]: Declaration } = {
  up: async () => (await import('./commands/up/command.ts')).addUp,
  init: async () => (await import('./commands/init/command.ts')).addInit,
  serve: async () => (await import('./commands/serve/command.ts')).addServe,
  push: async () => (await import('./commands/push/command.ts')).addPush,
  test: async () => (await import('./commands/test/command.ts')).addTest,
  mock: async () => (await import('./commands/mock/command.ts')).addMock,
  gateway: async () => (await import('./commands/gateway/command.ts')).addGateway,
  conformance: async () => (await import('./commands/conformance/command.ts')).addConformance,
  doctor: async () => (await import('./commands/doctor/command.ts')).addDoctor,
  bridge: async () => (await import('./commands/bridge/command.ts')).addBridge,
  actions: async () => (await import('./commands/actions/command.ts')).addActions,
  console: async () => (await import('./commands/console/command.ts')).addConsole,
  tap: async () => (await import('./commands/tap/command.ts')).addTap,
};

/** The commands that speak to an agent as the official specification has it, and what goes with them. */
const ofClients: { readonly [name: string]: Declaration } = {
  send: async () => (await import('./commands/send/command.ts')).addSend,
  card: async () => (await import('./commands/card/command.ts')).addCard,
  task: async () => (await import('./commands/task/command.ts')).addTask,
  chat: async () => (await import('./commands/chat/command.ts')).addChat,
  auth: async () => (await import('./commands/auth/command.ts')).addAuth,
  config: async () => (await import('./commands/config/command.ts')).addConfig,
  'demo-server': async () => (await import('./commands/demo-server/command.ts')).addDemoServer,
  completion: async () => (await import('./commands/completion/command.ts')).addCompletion,
};

const all = { ...own, ...ofClients };

/** The names of the commands of the official specification. */
export const clientCommandNames: readonly string[] = Object.keys(ofClients);

/** True for the name of a command. */
export const isCommand = (word: string): boolean => Object.hasOwn(all, word);

/**
 * The program for what was typed. Only the command that was asked for is loaded; whoever asks for help, for completion
 * or for something that is not there sees them all.
 */
export async function createProgram([word = '']: readonly string[]): Promise<Command> {
  const program = new Command('dragoman')
    .description('Builds, connects and tests A2A agents: every protocol version, one port, one client.')
    .version(packageVersion(), '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .showHelpAfterError('Run it with --help to see what there is.')
    .addHelpText(
      'after',
      `
Examples:
  $ dragoman up                                        everything at once, with sample agents
  $ dragoman init my-agent                             a project of your own
  $ dragoman send -a http://localhost:4000 hello       says something to an agent
  $ dragoman doctor http://localhost:4000              why does it not answer?`,
    )
    .exitOverride();
  const isOne = isCommand(word) && word !== 'completion';
  for (const [name, load] of Object.entries(all)) if (!isOne || name === word) (await load())(program);
  return program;
}
