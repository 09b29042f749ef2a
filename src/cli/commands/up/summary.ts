import { supportedVersions } from '../../../dialects/negotiation.ts';
import { formatUpstream } from '../../../gateway/gateway-settings.ts';
import type { RunningUp } from '../../../up/run-up.ts';
import type { Colors } from '../../terminal/colors.ts';
import { sanitizeForTerminal } from '../../terminal/sanitize.ts';
import { packageVersion } from '../../../primitives/node/package-version.ts';

/** An agent of the summary. */
interface AgentRow {
  readonly name: string;
  /** URL at the gateway; undefined if the agent is exposed only on the mesh. */
  readonly url: string | undefined;
  /** URL or location of the agent itself. */
  readonly from: string;
  readonly description: string;
  /** The only protocol version that the agent supports, if known. */
  readonly onlyVersion: string | undefined;
  readonly isOnMesh: boolean;
}

function agentRows({ gateway, hosted }: RunningUp): AgentRow[] {
  const { url, settings } = gateway;
  return settings.agents.map((each): AgentRow => {
    const local = hosted.find(({ settings: { name } }) => name === each.name);
    const kind = local && (local.settings.kind === 'script' ? 'mock script' : 'module');
    const onlyVersion = local?.settings.onlyVersion;
    return {
      name: each.name,
      url: each.exposeOnHttp && url !== undefined ? `${url}/agents/${each.name}` : undefined,
      from: local?.url ?? formatUpstream(each),
      description: [kind, onlyVersion && `only A2A ${onlyVersion}`].filter(Boolean).join(', '),
      onlyVersion,
      isOnMesh: each.exposeOnMesh !== undefined,
    };
  });
}

/** Returns the mesh that exposes agents, without the credentials of its URL. */
function findMesh({ gateway }: RunningUp): { url: string; namespace: string } | undefined {
  const mesh = gateway.settings.agents.find(({ exposeOnMesh }) => exposeOnMesh)?.exposeOnMesh;
  return mesh && { url: mesh.url.replace(/\/\/[^@/]*@/, '//'), namespace: mesh.namespace };
}

/** Returns commands to try, with titles. */
function exampleCommands(
  running: RunningUp,
  agents: readonly AgentRow[],
): { title: string; command: string }[] {
  const { url } = running.gateway;
  const { isSample } = running.settings;
  const reachable = agents.filter((each) => each.url !== undefined);
  const [first] = reachable;
  if (url === undefined || !first) return [];
  const old = reachable.find(({ onlyVersion }) => onlyVersion === '0.1');
  const other = reachable.find((each) => each !== old) ?? first;
  const text = isSample ? 'timetable' : 'hello';
  return [
    {
      title: old
        ? 'send a 1.0 message to the 0.1 agent and stream the response'
        : 'send a message and stream the response',
      command: `npx dragoman send -a ${(old ?? first).url} ${text} --stream`,
    },
    {
      title: isSample ? 'chat: “say hello”, “phrasebook Italian”, “postcard from Venice”' : 'chat',
      command: `npx dragoman chat -a ${other.url}`,
    },
    old
      ? { title: 'fetch the original 0.1 card', command: `curl -s ${old.from}/.well-known/agent.json` }
      : { title: 'list all agents with their health', command: `curl -s ${url}/agents` },
  ];
}

/** Formats the summary as one line of JSON. */
export function formatUpJson(running: RunningUp): string {
  const agents = agentRows(running);
  return JSON.stringify({
    console: running.consoleUrl,
    gateway: running.gateway.url,
    mcp: running.mcpUrl,
    mesh: findMesh(running),
    agents: agents.map(({ description: _description, ...agent }) => agent),
    try: exampleCommands(running, agents).map(({ command }) => command),
  });
}

/** Formats the summary for a terminal, with commands to try. */
export function formatUpText(running: RunningUp, notes: readonly string[], colors: Colors): string {
  const { bold, cyan, dim, green, yellow } = colors;
  const agents = agentRows(running);
  const { consoleUrl, mcpUrl, gateway } = running;
  const mesh = findMesh(running);
  const row = (label: string, text: string) => `  ${dim(label.padEnd(8))}  ${text}`;
  const lines = ['', `  ${green('●')} ${bold('Dragoman is up')} ${dim(packageVersion())}`, ''];
  if (consoleUrl !== undefined) lines.push(row('console', bold(cyan(consoleUrl))));
  if (gateway.url !== undefined)
    lines.push(row('gateway', `${cyan(gateway.url)}  ${dim(`A2A ${supportedVersions.join(', ')}`)}`));
  if (mcpUrl !== undefined) lines.push(row('MCP', cyan(mcpUrl)));
  if (mesh) lines.push(row('mesh', `${cyan(mesh.url)} ${dim(`in ${mesh.namespace}`)}`));
  lines.push('', `  ${bold('Agents')}`);
  const width = Math.max(...agents.map(({ name }) => name.length));
  for (const { name, url, from, description } of agents) {
    lines.push(`    ${name.padEnd(width)}  ${cyan(url ?? 'on the mesh')}`);
    lines.push(
      `    ${' '.repeat(width)}  ${dim([description, `upstream ${sanitizeForTerminal(from, 'line')}`].filter(Boolean).join(', '))}`,
    );
  }
  const commands = exampleCommands(running, agents);
  if (commands.length > 0) lines.push('', `  ${bold('Try')}`);
  for (const { title, command } of commands) lines.push(`  ${dim(`# ${title}`)}`, `  ${command}`);
  if (notes.length > 0) lines.push('', ...notes.map((note) => `  ${yellow('!')} ${note}`));
  lines.push('', `  ${dim('Press Ctrl-C to stop.')}`, '');
  return lines.join('\n');
}
