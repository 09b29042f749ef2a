import { fetchCatalog, type ListedAgent } from '../../client/catalog.ts';
import type { HttpClient } from '../../client/http/http-client.ts';
import type { AgentCard } from '../../protocol/card.ts';
import { stripTrailing, truncate } from '../../primitives/text.ts';
import type { AgentRegistry } from '../agents/agent-registry.ts';
import { type ConsoleAgent, errorText, listRequiredCredentials } from '../agents/console-agent.ts';
import type { ApiRoutes } from '../api-routes.ts';
import type { CatalogContent, CatalogEntry } from '../console-api.ts';
import { parseCatalogUrl } from './request-schemas.ts';

/** Bounds of what an agent can add to a catalog. */
const limits = { agents: 200, skills: 100, variants: 32, tags: 20, name: 200, text: 2_000 };

/** Time limit of each request in milliseconds. */
const timeout = 5_000;

/** Routes of the catalog view. */
export function catalogRoutes(agents: AgentRegistry, http: HttpClient): ApiRoutes {
  return {
    'GET catalog': async ({ query, signal }) => {
      const url = parseCatalogUrl(query);
      return {
        json: url === undefined ? await listKnown(agents) : await listHost(url, { agents, http, signal }),
      };
    },
  };
}

async function listKnown(agents: AgentRegistry): Promise<CatalogContent> {
  return { entries: await Promise.all(agents.all().map(describeKnown)), omitted: 0 };
}

async function describeKnown(agent: ConsoleAgent): Promise<CatalogEntry> {
  const { id, url } = agent.info;
  try {
    return { ...describeCard(await agent.card()), url, agentId: id };
  } catch (thrown) {
    return { ...noCard, name: agent.name ?? url, url, agentId: id, error: errorText(thrown) };
  }
}

async function listHost(
  hostUrl: string,
  { agents, http, signal }: { agents: AgentRegistry; http: HttpClient; signal: AbortSignal },
): Promise<CatalogContent> {
  const options = { http, signal, maxCards: limits.agents, timeouts: { read: timeout } };
  const { agents: listed, omitted, url } = await fetchCatalog(hostUrl, options);
  const ids = new Map(agents.all().map(({ info }) => [agentUrl(info.url), info.id]));
  const shown = listed.slice(0, limits.agents);
  return {
    entries: shown.map((each) => describeListed(each, url, ids)),
    omitted: omitted + listed.length - shown.length,
  };
}

function describeListed(
  { name, description, identifier, cardUrl, decodedCard, error }: ListedAgent,
  catalogUrl: string,
  ids: ReadonlyMap<string, string>,
): CatalogEntry {
  const described = decodedCard && tryDescribeCard(decodedCard);
  const problem = error ? errorText(error) : described ? undefined : 'The card is invalid.';
  const url = cardUrl === undefined ? `${catalogUrl}#${encodeURIComponent(identifier)}` : agentUrl(cardUrl);
  const agentId = ids.get(url);
  return {
    ...(described ?? noCard),
    // The names of the catalog take precedence over those of the card.
    name,
    ...(description !== undefined && { description }),
    url,
    ...(agentId !== undefined && { agentId }),
    ...(problem !== undefined && { error: problem }),
  };
}

/** Returns the URL of the agent of a card at a well-known path. */
function agentUrl(cardUrl: string): string {
  return stripTrailing(cardUrl.replace(/\/\.well-known\/agent(?:-card)?\.json$/, ''), '/');
}

function tryDescribeCard(card: AgentCard): Omit<CatalogEntry, 'url'> | undefined {
  try {
    return describeCard(card);
  } catch {
    return undefined;
  }
}

const noCard = { skills: [], variants: [], security: [] } as const;

function describeCard(card: AgentCard): Omit<CatalogEntry, 'url'> {
  const variants = new Map(
    card.interfaces.slice(0, limits.variants).map(({ protocolVersion, protocolBinding }) => {
      const version = shorten(/^\d+\.\d+/.exec(protocolVersion)?.[0] ?? protocolVersion, 20);
      const transport = shorten(protocolBinding, 100).toUpperCase();
      return [`${version} ${transport}`, { version, transport }];
    }),
  );
  return {
    name: shorten(card.name, limits.name),
    description: shorten(card.description, limits.text),
    skills: card.skills.slice(0, limits.skills).map(({ id, name, description, tags }) => ({
      id: shorten(id, limits.name),
      name: shorten(name, limits.name),
      description: shorten(description, limits.text),
      tags: tags.slice(0, limits.tags).map((tag) => shorten(tag, limits.name)),
    })),
    variants: [...variants.values()],
    security: listRequiredCredentials(card)
      .slice(0, limits.tags)
      .map((each) => shorten(each, limits.name)),
  };
}

/** Cards of the model are not validated, so that a text may be anything. */
function shorten(value: unknown, maxLength: number): string {
  return typeof value === 'string' ? truncate(value, maxLength) : '';
}
