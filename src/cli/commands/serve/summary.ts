import type { AgentCard } from '../../../protocol/card.ts';
import { supportedVersions } from '../../../dialects/negotiation.ts';
import { createColors } from '../../terminal/colors.ts';

interface ServedAgent {
  /** With the base path. */
  url: string;
  card: AgentCard | undefined;
  /** Location of the task store; undefined if unknown. */
  tasks: string | undefined;
  /** Header with the credentials of a client, for shell commands; undefined if clients need none. */
  credentials: string | undefined;
  /** True if the card has interfaces of gRPC. */
  hasGrpc: boolean;
}

function cardUrl(url: string): string {
  return `${url}/.well-known/agent-card.json`;
}

/** Formats the summary as one line of JSON. */
export function formatServeJson(url: string): string {
  return JSON.stringify({ url, card: cardUrl(url), versions: supportedVersions });
}

/** Formats the summary for a terminal, with commands to try. */
export function formatServeText({ url, card, tasks, credentials, hasGrpc }: ServedAgent): string {
  const { bold, cyan, dim } = createColors(process.stdout);
  const lines = [
    '',
    ...(card ? [`  ${bold(card.name)} ${dim(card.version)}  ${card.description}`, ''] : []),
    `  ${dim('card  ')}  ${cyan(cardUrl(url))}`,
    `  ${dim('A2A   ')}  ${supportedVersions.join(', ')} over JSON-RPC; 1.0 and 0.3 also over ${hasGrpc ? 'REST and gRPC' : 'REST'}`,
  ];
  if (tasks !== undefined) lines.push(`  ${dim('tasks ')}  ${tasks}`);
  lines.push('', `  ${bold('Try it')}`);
  for (const { title, command } of exampleCommands(url, credentials))
    lines.push('', `  ${dim(`# ${title}`)}`, `  ${command}`);
  lines.push('', `  ${dim('Press Ctrl-C to stop.')}`, '');
  return lines.join('\n');
}

/** Shell commands to try. The time makes every message ID unique. */
function exampleCommands(url: string, credentials: string | undefined): { title: string; command: string }[] {
  const json = `-H 'Content-Type: application/json'${credentials === undefined ? '' : ` -H "${credentials}"`}`;
  const id = (letter: string) => `"${letter}-'$(date +%s)'"`;
  const parts = '"parts":[{"text":"hello"}]';
  return [
    {
      title: '1.0, REST',
      command: `curl -s '${url}/message:send' -H 'A2A-Version: 1.0' ${json} -d '{"message":{"messageId":${id('a')},"role":"ROLE_USER",${parts}}}'`,
    },
    {
      title: '0.3, JSON-RPC, streaming',
      command: `curl -sN '${url}/' ${json} -d '{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{"message":{"kind":"message","messageId":${id('b')},"role":"user","parts":[{"kind":"text","text":"hello"}]}}}'`,
    },
    {
      title: '0.1, JSON-RPC',
      command: `curl -s '${url}/' ${json} -d '{"jsonrpc":"2.0","id":1,"method":"tasks/send","params":{"id":${id('c')},"message":{"role":"user","parts":[{"type":"text","text":"hello"}]}}}'`,
    },
  ];
}
