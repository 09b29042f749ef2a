import { readGatewayConfig } from '../../../gateway/config/read-gateway-config.ts';
import type { GatewaySettings } from '../../../gateway/gateway-settings.ts';
import {
  type ExplainedCall,
  explainCall,
  type PolicyExplanation,
  scopesInFile,
} from '../../../gateway/policy/explain-policy.ts';
import {
  policyOperationNames,
  type PolicyOperationName,
  singleOperationNames,
} from '../../../gateway/policy/policy-operations.ts';
import type { PolicyTransport } from '../../../gateway/policy/policy-settings.ts';
import type { ProtocolVersion } from '../../../protocol/card.ts';
import { readInputFile } from '../../inputs/read-input-file.ts';
import type { OutputFormat } from '../../inputs/shared-options.ts';
import { createColors } from '../../terminal/colors.ts';
import { readValidFile } from '../../terminal/print-diagnostics.ts';
import { UsageError } from '../../terminal/usage-error.ts';

/** Flags of `dragoman gateway explain`. */
export interface GatewayExplainFlags {
  as?: string;
  issuer?: string;
  scopes?: readonly string[];
  tenant?: string;
  agent?: string;
  operation?: PolicyOperationName;
  a2aVersion: ProtocolVersion;
  transport?: PolicyTransport;
  bytes: number;
  parts: number;
  fileBytes: number;
  output: OutputFormat;
}

/** Runs `dragoman gateway explain`. Exits with 1 if one call is explained and denied. */
export function runGatewayExplainCommand(file: string, flags: GatewayExplainFlags): void {
  const text = readInputFile(file, 'Name the file of a gateway.');
  const settings = readValidFile(() => readGatewayConfig(text, file, process.env));
  const known = settings.agents.map(({ name }) => name);
  if (flags.agent !== undefined && !known.includes(flags.agent))
    throw new UsageError(`The file has no agent ${flags.agent}`, `Name one of ${known.join(', ')}.`);
  const agents = flags.agent === undefined ? known : [flags.agent];
  const operations = toOperations(flags.operation);
  const explanations = agents.flatMap((agent) =>
    operations.map((operation) => explainCall(settings, toCall(settings, flags, agent, operation))),
  );
  const [only] = explanations.length === 1 ? explanations : [];
  const { output } = flags;
  const shown =
    output === 'json'
      ? JSON.stringify(only ?? explanations, undefined, 2)
      : only
        ? formatOne(only)
        : formatTable(explanations);
  process.stdout.write(`${shown}\n`);
  if (only?.result === 'denied') process.exitCode = 1;
}

function toOperations(operation: PolicyOperationName | undefined): readonly PolicyOperationName[] {
  if (operation === 'push') return policyOperationNames.filter((name) => name.endsWith('_push'));
  return operation === undefined ? singleOperationNames : [operation];
}

const meshPrefix = 'mesh:';

function toCall(
  settings: GatewaySettings,
  flags: GatewayExplainFlags,
  agent: string,
  operation: PolicyOperationName,
): ExplainedCall {
  const { as, issuer, tenant, bytes, parts, fileBytes } = flags;
  const isMeshUser = as?.startsWith(meshPrefix) ?? false;
  const id = isMeshUser ? as?.slice(meshPrefix.length) : as;
  const scopes = flags.scopes ?? (id === undefined || isMeshUser ? undefined : scopesInFile(settings, id));
  const principal =
    id === undefined ? undefined : { id, ...(issuer !== undefined && { issuer }), ...(scopes && { scopes }) };
  const transport = flags.transport ?? (isMeshUser ? 'mesh' : 'JSONRPC');
  const caller = { principal, isMeshUser };
  return { agent, operation, caller, tenant, version: flags.a2aVersion, transport, bytes, parts, fileBytes };
}

function formatOne({ agent, operation, result, reason, place, limits }: PolicyExplanation): string {
  const { bold, green, red, dim } = createColors(process.stdout);
  const shown = result === 'allowed' ? green(result) : red(result);
  return [
    `${bold(shown)}  ${agent} ${operation}`,
    `  ${dim('because')}  ${reason}${place === undefined ? '' : `  ${dim(place)}`}`,
    ...limits.map((limit) => `  ${dim('limit')}    ${limit.name}: ${limit.text}  ${dim(limit.place)}`),
  ].join('\n');
}

function formatTable(explanations: readonly PolicyExplanation[]): string {
  const { green, red, dim, bold } = createColors(process.stdout);
  const rows = explanations.map(({ agent, operation, result, reason, place, limits }) => [
    agent,
    operation,
    result,
    limits.map(({ name }) => name).join(', '),
    `${reason}${place === undefined ? '' : `  ${place}`}`,
  ]);
  const head = ['agent', 'operation', 'result', 'limits', 'because'];
  const widths = head.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const pad = (text: string, i: number) => text.padEnd(widths[i] ?? 0);
  return [
    bold(head.map(pad).join('  ').trimEnd()),
    ...rows.map(([agent = '', operation = '', result = '', limits = '', reason = '']) => {
      const shown = result === 'allowed' ? green(pad(result, 2)) : red(pad(result, 2));
      return `${pad(agent, 0)}  ${pad(operation, 1)}  ${shown}  ${pad(limits, 3)}  ${dim(reason)}`;
    }),
  ].join('\n');
}
