import { type Command, Option } from 'commander';
import type { LoginFlags } from './login.ts';
import { addClientFlags } from '../../client/flags.ts';

const examples = `
Examples:
  $ dragoman auth login -a agents.example.com --client-id my-tool
  $ A2ACLI_CLIENT_SECRET=… dragoman auth login -a agents.example.com --client-id ci --flow client-credentials
  $ dragoman auth login -a agents.example.com --scheme corporate --scope 'tasks:read tasks:write' --client-id my-tool

The token is stored in ~/.config/a2a-cli/tokens.json (mode 0600) and sent to that agent from then on. Delete the file
to log out.`;

/** Adds `dragoman auth`. */
export function addAuth(program: Command): void {
  const auth = program
    .command('auth')
    .description('Manage credentials for agents.')
    .addHelpText('after', examples);
  const login = auth
    .command('login')
    .description('Log in with an OAuth 2 flow of the agent card (device code or client credentials).')
    .addOption(
      new Option('--flow <flow>', 'OAuth flow (default: device code if the agent offers it)').choices([
        'device-code',
        'client-credentials',
      ]),
    )
    .option('--scheme <name>', 'security scheme of the card (default: first scheme with a supported flow)')
    .option('--client-id <id>', 'OAuth client ID (A2ACLI_CLIENT_ID)')
    .option('--client-secret <secret>', 'OAuth client secret; prefer A2ACLI_CLIENT_SECRET')
    .option(
      '--scope <scopes>',
      'scopes to request, separated by spaces (default: scopes that the card requires)',
    );
  addClientFlags(login)
    .addHelpText('after', examples)
    .action(async () => (await import('./login.ts')).runLoginCommand(login, () => login.opts<LoginFlags>()));
}
