import type { AgentCard } from '../../../protocol/card.ts';
import { supportedVersions } from '../../../dialects/negotiation.ts';
import { createColors } from '../../terminal/colors.ts';

/** What there is to tell about an agent that is being served. */
interface Served {
  /** Where it is, with the base path. */
  url: string;
  card: AgentCard | undefined;
  /** Where its tasks are, in words; undefined where nobody but the agent knows. */
  tasks: string | undefined;
}

/** Where the card is. */
function cardUrlOf(url: string): string {
  return `${url}/.well-known/agent-card.json`;
}

/** Tells a program what is served, in one line. */
export function formatServeJson(url: string): string {
  return JSON.stringify({ url, card: cardUrlOf(url), versions: supportedVersions });
}

/** Tells a person what is served and what to try. */
export function formatServeText({ url, card, tasks }: Served): string {
  const { bold, cyan, dim } = createColors(process.stdout);
  const lines = [
    '',
    ...(card ? [`  ${bold(card.name)} ${dim(card.version)}  ${card.description}`, ''] : []),
    `  ${dim('card  ')}  ${cyan(cardUrlOf(url))}`,
    `  ${dim('speaks')}  A2A ${supportedVersions.join(', ')} over JSON-RPC; 1.0 and 0.3 over REST as well`,
  ];
  if (tasks !== undefined) lines.push(`  ${dim('tasks ')}  ${tasks}`);
  lines.push('', `  ${bold('Try it')}`);
  for (const { title, command } of trials(url)) lines.push('', `  ${dim(`# ${title}`)}`, `  ${command}`);
  lines.push('', `  ${dim('Ctrl-C stops it.')}`, '');
  return lines.join('\n');
}

/** Commands to paste into a shell. The time makes every message a new one. */
function trials(url: string): { title: string; command: string }[] {
  const json = "-H 'Content-Type: application/json'";
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
