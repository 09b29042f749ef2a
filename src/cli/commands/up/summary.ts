import { supportedVersions } from '../../../dialects/negotiation.ts';
import type { AgentSettings } from '../../../gateway/gateway-settings.ts';
import type { RunningUp } from '../../../up/run-up.ts';
import { type createColors } from '../../terminal/colors.ts';
import { sanitizeForTerminal } from '../../terminal/sanitize.ts';
import { packageVersion } from '../../../documents/package-version.ts';

type Colours = ReturnType<typeof createColors>;

/** One agent of the town. */
interface AgentRow {
  readonly name: string;
  /** Where the gateway shows it; undefined where it is on the mesh alone. */
  readonly url: string | undefined;
  /** Where it is itself. */
  readonly from: string;
  /** What it is, in a few words. */
  readonly what: string;
  /** The only version that it speaks, where that is known. */
  readonly speaks: string | undefined;
  readonly isOnMesh: boolean;
}

function agentRows({ gateway, hosted }: RunningUp): AgentRow[] {
  const { url, settings } = gateway;
  return settings.agents.map((each): AgentRow => {
    const here = hosted.find(({ settings: { name } }) => name === each.name);
    const kind = here && (here.settings.kind === 'script' ? 'a script' : 'written in code');
    const speaks = here?.settings.onlyVersion;
    return {
      name: each.name,
      url: each.exposeOnHttp && url !== undefined ? `${url}/agents/${each.name}` : undefined,
      from: here?.url ?? placeOf(each),
      what: [kind, speaks && `only A2A ${speaks}`].filter(Boolean).join(', '),
      speaks,
      isOnMesh: each.exposeOnMesh !== undefined,
    };
  });
}

function placeOf({ source }: AgentSettings): string {
  if (source.kind === 'url') return source.config.url;
  return source.kind === 'mesh' ? `${source.name} on the mesh` : source.file;
}

/** The mesh on which agents are shown, without what logs in there. */
function meshOf({ gateway }: RunningUp): { url: string; namespace: string } | undefined {
  const mesh = gateway.settings.agents.find(({ exposeOnMesh: onMesh }) => onMesh)?.exposeOnMesh;
  return mesh && { url: mesh.url.replace(/\/\/[^@/]*@/, '//'), namespace: mesh.namespace };
}

/** Commands to try, with what each of them shows. */
function trialsOf(running: RunningUp, townsmen: readonly AgentRow[]): { title: string; command: string }[] {
  const { url } = running.gateway;
  const { isSample } = running.settings;
  const shown = townsmen.filter((each) => each.url !== undefined);
  const [first] = shown;
  if (url === undefined || !first) return [];
  const old = shown.find(({ speaks }) => speaks === '0.1');
  const other = shown.find((each) => each !== old) ?? first;
  const sentence = isSample ? 'timetable' : 'hello';
  return [
    {
      title: old
        ? 'ask the agent of 0.1 in 1.0, and watch the answer come'
        : 'ask, and watch the answer come',
      command: `npx dragoman send -a ${(old ?? first).url} ${sentence} --stream`,
    },
    {
      title: isSample ? 'talk: “say hello”, “phrasebook Italian”, “postcard from Venice”' : 'talk',
      command: `npx dragoman chat -a ${other.url}`,
    },
    old
      ? {
          title: 'the card of 0.1, as it was before the translation',
          command: `curl -s ${old.from}/.well-known/agent.json`,
        }
      : { title: 'everybody, and how they are', command: `curl -s ${url}/agents` },
  ];
}

/** Tells a program what is up, in one line. */
export function formatUpJson(running: RunningUp): string {
  const townsmen = agentRows(running);
  return JSON.stringify({
    console: running.consoleUrl,
    gateway: running.gateway.url,
    mcp: running.mcpUrl,
    mesh: meshOf(running),
    agents: townsmen.map(({ name, url, from, speaks, isOnMesh }) => ({ name, url, from, speaks, isOnMesh })),
    try: trialsOf(running, townsmen).map(({ command }) => command),
  });
}

/** Tells a person what is up and what to try. */
export function formatUpText(running: RunningUp, notes: readonly string[], colours: Colours): string {
  const { bold, cyan, dim, green, yellow } = colours;
  const townsmen = agentRows(running);
  const { consoleUrl, mcpUrl, gateway } = running;
  const mesh = meshOf(running);
  const row = (label: string, text: string) => `  ${dim(label.padEnd(8))}  ${text}`;
  const lines = ['', `  ${green('●')} ${bold('Dragoman is up')} ${dim(packageVersion())}`, ''];
  if (consoleUrl !== undefined) lines.push(row('console', bold(cyan(consoleUrl))));
  if (gateway.url !== undefined)
    lines.push(row('gateway', `${cyan(gateway.url)}  ${dim(`in A2A ${supportedVersions.join(', ')}`)}`));
  if (mcpUrl !== undefined) lines.push(row('MCP', cyan(mcpUrl)));
  if (mesh) lines.push(row('mesh', `${cyan(mesh.url)} ${dim(`in ${mesh.namespace}`)}`));
  lines.push('', `  ${bold('Agents')}`);
  const width = Math.max(...townsmen.map(({ name }) => name.length));
  for (const { name, url, from, what } of townsmen) {
    lines.push(`    ${name.padEnd(width)}  ${cyan(url ?? 'on the mesh')}`);
    lines.push(
      `    ${' '.repeat(width)}  ${dim([what, `itself at ${sanitizeForTerminal(from, 'line')}`].filter(Boolean).join(', '))}`,
    );
  }
  const trials = trialsOf(running, townsmen);
  if (trials.length > 0) lines.push('', `  ${bold('Try')}`);
  for (const { title, command } of trials) lines.push(`  ${dim(`# ${title}`)}`, `  ${command}`);
  if (notes.length > 0) lines.push('', ...notes.map((note) => `  ${yellow('!')} ${note}`));
  lines.push('', `  ${dim('Ctrl-C stops everything.')}`, '');
  return lines.join('\n');
}
