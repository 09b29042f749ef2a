import { type Command, Option } from 'commander';
import type { LoginFlags } from './login.ts';
import { addClientFlags } from '../../client/flags.ts';

const examples = `
Examples:
  $ dragoman auth login -a agents.example.com --client-id my-tool
  $ dragoman auth login -a agents.example.com --client-id my-tool --flow authorization-code --open
  $ A2ACLI_CLIENT_SECRET=… dragoman auth login -a agents.example.com --client-id ci --flow client-credentials
  $ dragoman auth login -a agents.example.com --scheme corporate --scope 'tasks:read tasks:write' --client-id my-tool

The token is stored in ~/.config/a2a-cli/tokens.json (mode 0600), renewed before it expires, and sent only to that agent
from then on. Without a client ID, the authorization server registers a client if it offers that.`;

/** Adds `dragoman auth`. */
export function addAuth(program: Command): void {
  const auth = program
    .command('auth')
    .description('Manage credentials for agents.')
    .addHelpText('after', examples);
  const login = auth
    .command('login')
    .description(
      'Log in with an OAuth 2 flow of the agent card: device code, authorization code with PKCE, or client credentials.',
    )
    .addOption(
      new Option('--flow <flow>', 'OAuth flow (default: the first of these that the agent offers)').choices([
        'device-code',
        'authorization-code',
        'client-credentials',
      ]),
    )
    .option('--scheme <name>', 'security scheme of the card (default: first scheme with a supported flow)')
    .option('--client-id <id>', 'OAuth client ID (A2ACLI_CLIENT_ID)')
    .option('--client-secret <secret>', 'OAuth client secret; prefer A2ACLI_CLIENT_SECRET')
    .option('--open', 'open the page in the browser', false)
    .option(
      '--scope <scopes>',
      'scopes to request, separated by spaces (default: scopes that the card requires)',
    );
  addClientFlags(login)
    .addHelpText('after', examples)
    .action(async () => (await import('./login.ts')).runLoginCommand(login, () => login.opts<LoginFlags>()));
  const status = auth.command('status').description('List the stored tokens, without their values.');
  addClientFlags(status)
    .addHelpText('after', '\nExamples:\n  $ dragoman auth status\n  $ dragoman auth status -o json')
    .action(async () => (await import('./stored.ts')).runStatusCommand(status));
  const logout = auth
    .command('logout')
    .description('Delete the stored token of an agent.')
    .option('--all-agents', 'delete the tokens of all agents', false);
  addClientFlags(logout)
    .addHelpText(
      'after',
      '\nExamples:\n  $ dragoman auth logout -a agents.example.com\n  $ dragoman auth logout --all-agents',
    )
    .action(async () =>
      (await import('./stored.ts')).runLogoutCommand(logout, logout.opts<{ allAgents: boolean }>().allAgents),
    );
}
