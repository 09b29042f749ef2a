import { Command } from 'commander';
import { packageVersion } from '../primitives/node/package-version.ts';

/** Loads the function that declares a command. */
type CommandLoader = () => Promise<(program: Command) => void>;

/** Commands specific to Dragoman, in the order of the help. */
const ownCommands: { readonly [name: string]: CommandLoader } = {
  up: async () => (await import('./commands/up/command.ts')).addUp,
  init: async () => (await import('./commands/init/command.ts')).addInit,
  serve: async () => (await import('./commands/serve/command.ts')).addServe,
  push: async () => (await import('./commands/push/command.ts')).addPush,
  store: async () => (await import('./commands/store/command.ts')).addStore,
  test: async () => (await import('./commands/test/command.ts')).addTest,
  mock: async () => (await import('./commands/mock/command.ts')).addMock,
  gateway: async () => (await import('./commands/gateway/command.ts')).addGateway,
  conformance: async () => (await import('./commands/conformance/command.ts')).addConformance,
  load: async () => (await import('./commands/load/command.ts')).addLoad,
  doctor: async () => (await import('./commands/doctor/command.ts')).addDoctor,
  bridge: async () => (await import('./commands/bridge/command.ts')).addBridge,
  actions: async () => (await import('./commands/actions/command.ts')).addActions,
  console: async () => (await import('./commands/console/command.ts')).addConsole,
  tap: async () => (await import('./commands/tap/command.ts')).addTap,
};

/** Client commands of the official a2a-cli specification. */
const clientCommands: { readonly [name: string]: CommandLoader } = {
  send: async () => (await import('./commands/send/command.ts')).addSend,
  card: async () => (await import('./commands/card/command.ts')).addCard,
  task: async () => (await import('./commands/task/command.ts')).addTask,
  chat: async () => (await import('./commands/chat/command.ts')).addChat,
  auth: async () => (await import('./commands/auth/command.ts')).addAuth,
  config: async () => (await import('./commands/config/command.ts')).addConfig,
  'demo-server': async () => (await import('./commands/demo-server/command.ts')).addDemoServer,
  completion: async () => (await import('./commands/completion/command.ts')).addCompletion,
};

const allCommands = { ...ownCommands, ...clientCommands };

/** Names of the client commands of the official a2a-cli specification. */
export const clientCommandNames: readonly string[] = Object.keys(clientCommands);

/** Returns true if a word is the name of a top-level command. */
export const isCommand = (word: string): boolean => Object.hasOwn(allCommands, word);

/**
 * Creates the program for the given command line. Loads only the named command; help, completion and unknown commands
 * load all of them. Commander prints no errors itself, see `runProgram`.
 */
export async function createProgram([word = '']: readonly string[]): Promise<Command> {
  const program = new Command('dragoman')
    .description('Build, connect and test A2A agents.')
    .version(packageVersion(), '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .configureOutput({ outputError: () => {} })
    .addHelpText(
      'after',
      `
Examples:
  $ dragoman up                                        start sample agents, a gateway and the console
  $ dragoman init my-agent                             create an agent project
  $ dragoman send -a http://localhost:4000 hello       send a message to an agent
  $ dragoman doctor http://localhost:4000              find out why an agent does not respond`,
    )
    .exitOverride();
  const loadsOne = isCommand(word) && word !== 'completion';
  for (const [name, load] of Object.entries(allCommands))
    if (!loadsOne || name === word) (await load())(program);
  return program;
}
