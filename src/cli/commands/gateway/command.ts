import { type Command, Option } from 'commander';
import { policyOperationNames } from '../../../gateway/policy/policy-operations.ts';
import { policyTransports } from '../../../gateway/policy/policy-settings.ts';
import { countParser } from '../../inputs/parse-count.ts';
import { hostOption, logOption, otlpOption, outputOption, portOption } from '../../inputs/shared-options.ts';
import type { GatewayExplainFlags } from './explain.ts';
import type { GatewayFlags } from './run.ts';

const examples = `
Examples:
  $ dragoman gateway -c dragoman.yaml
  $ dragoman gateway -c dragoman.yaml --check
  $ kill -HUP $PID     reload the file

The smallest file:
  agents:
    weather:
      url: https://weather.example.com`;

const parseSize = countParser(Number.MAX_SAFE_INTEGER, 0);

const explainNotes = `
Exits with 0 if the call is allowed, with 1 if it is denied, and with 2 on usage errors. Without --agent or --operation, it
prints a table and exits with 0. Rates and quotas are shown, not counted.

Examples:
  $ dragoman gateway explain dragoman.yaml --as client-a --agent weather --operation cancel
  $ dragoman gateway explain dragoman.yaml --as client-a --scopes tasks.read
  $ dragoman gateway explain dragoman.yaml --as mesh:alice --agent weather -o json`;

/** Adds `dragoman gateway`. */
export function addGateway(program: Command): void {
  const overrides = ' (default: as in the file)';
  const gateway = program
    .command('gateway')
    .description(
      'Run a gateway that exposes the configured agents over HTTP and on a mesh, in all A2A versions.',
    )
    .option('-c, --config <file>', 'configuration file in YAML; required')
    .option('--check', 'validate the file and exit')
    .addOption(portOption(undefined, overrides))
    .addOption(hostOption(overrides).default(undefined))
    .option(
      '--store <store>',
      `task store, which keeps the owners of tasks: memory, sqlite:FILE or postgres://…${overrides}`,
    )
    .option('--tls-cert <file>', `certificate of the server, as PEM${overrides}`)
    .option('--tls-key <file>', `private key of the certificate, as PEM${overrides}`)
    .option('--tls-client-ca <file>', `authorities of client certificates, as PEM${overrides}`)
    .addOption(outputOption())
    .addOption(logOption())
    .addOption(otlpOption())
    .addHelpText('after', examples)
    .action(async (flags: GatewayFlags) => (await import('./run.ts')).runGatewayCommand(flags));
  gateway
    .command('explain')
    .description('Show what the policy in a gateway file decides about a call, and which rule decides.')
    .argument('<file>', 'configuration file in YAML')
    .option(
      '--as <principal>',
      'id of the caller; mesh:USER for a user of the mesh (default: no credentials)',
    )
    .option('--issuer <issuer>', 'issuer of the identity of the caller')
    .addOption(
      new Option(
        '--scopes <scopes>',
        'scopes of the caller, with commas (default: those in the file)',
      ).argParser((text) => text.split(/[\s,]+/).filter((scope) => scope !== '')),
    )
    .option('--tenant <tenant>', 'tenant that the request names')
    .option('-a, --agent <name>', 'agent to use, by its name in the file (default: all agents)')
    .addOption(
      new Option('--operation <operation>', 'operation to call (default: all operations)').choices(
        policyOperationNames,
      ),
    )
    .addOption(
      new Option('--a2a-version <version>', 'A2A version of the request')
        .choices(['1.0', '0.3', '0.2', '0.1'])
        .default('1.0'),
    )
    .addOption(
      new Option('--transport <transport>', 'transport to use (default: JSONRPC)').choices(policyTransports),
    )
    .addOption(new Option('--bytes <count>', 'size of the request').argParser(parseSize).default(0))
    .addOption(new Option('--parts <count>', 'parts of the message').argParser(parseSize).default(1))
    .addOption(new Option('--file-bytes <count>', 'size of the largest file').argParser(parseSize).default(0))
    .addOption(outputOption())
    .addHelpText('after', explainNotes)
    // The flag for the output belongs to both commands, and the outer one takes it.
    .action(async (file: string, _flags: unknown, command: Command) =>
      (await import('./explain.ts')).runGatewayExplainCommand(
        file,
        command.optsWithGlobals<GatewayExplainFlags>(),
      ),
    );
}
