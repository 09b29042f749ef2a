import { type Command, Option } from 'commander';
import type { LoginFlags } from './login.ts';
import { addClientFlags } from '../../client/flags.ts';

const examples = `
Examples:
  $ dragoman auth login -a agents.example.com --client-id my-tool
  $ A2ACLI_CLIENT_SECRET=… dragoman auth login -a agents.example.com --client-id ci --flow client-credentials
  $ dragoman auth login -a agents.example.com --scheme corporate --scope 'tasks:read tasks:write' --client-id my-tool

Tokens are kept in ~/.config/a2a-cli/tokens.json, which only you can read, and go along to that agent from then on.
Remove the file to log out.`;

/** Adds `dragoman auth`. */
export function addAuth(program: Command): void {
  const auth = program
    .command('auth')
    .description('Gets credentials for agents.')
    .addHelpText('after', examples);
  const login = auth
    .command('login')
    .description('Logs in where the card of the agent says, by device code or as a client.')
    .addOption(
      new Option('--flow <flow>', 'how (default: by device code if the agent offers it)').choices([
        'device-code',
        'client-credentials',
      ]),
    )
    .option('--scheme <name>', 'the security scheme of the card (default: the first that fits)')
    .option('--client-id <id>', 'the id of this client at the authorization server (A2ACLI_CLIENT_ID)')
    .option('--client-secret <secret>', 'its secret; better in A2ACLI_CLIENT_SECRET')
    .option('--scope <scopes>', 'the scopes to ask for (default: those that the card asks for)');
  addClientFlags(login)
    .addHelpText('after', examples)
    .action(async () => {
      const { runLoginCommand: logIn } = await import('./login.ts');
      await logIn(login, () => login.opts<LoginFlags>());
    });
}
