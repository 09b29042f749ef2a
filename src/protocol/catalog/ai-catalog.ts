/**
 * Catalog of the agents of a host: `/.well-known/ai-catalog.json`, after version 1.0 of the AI Catalog specification.
 *
 * @module
 */
import { asJsonObject, type JsonObject } from '../../primitives/json.ts';
import { truncate } from '../../primitives/text.ts';
import { parseUrl } from '../../primitives/web/parse-url.ts';

/** Path of the catalog below the URL of a host. */
export const catalogPath = '.well-known/ai-catalog.json';

/** Media type of a catalog. */
export const catalogMediaType = 'application/ai-catalog+json';

/** Type of the entries that are agents. */
const cardMediaType = 'application/a2a-agent-card+json';

/** An agent of a catalog. Its texts are those of the host: of limited length, but otherwise arbitrary. */
export interface CatalogAgent {
  readonly identifier: string;
  /** Name to display: that of the entry, or of its card, or the end of the identifier. */
  readonly name: string;
  readonly description?: string;
  readonly version?: string;
  readonly tags: readonly string[];
  /** URL of the card; undefined if the catalog contains the card. */
  readonly cardUrl?: string;
  /** Card of any version in the catalog. */
  readonly card?: object;
}

/** Agents of a catalog. */
export interface AgentCatalog {
  /** URL of the catalog. */
  readonly url: string;
  readonly agents: readonly CatalogAgent[];
  /** Number of agents that are left out: their entry is invalid, or there are too many. */
  readonly omitted: number;
}

/** Maximum number of agents of a catalog, and maximum lengths of their texts. */
const limits = { agents: 1_000, tags: 50, name: 200, text: 2_000 };

/** Returns true if a JSON document has the members of a catalog. */
export function isCatalog(value: unknown): value is JsonObject & { entries: unknown[] } {
  const object = asJsonObject(value);
  return object !== undefined && 'specVersion' in object && Array.isArray(object.entries);
}

/** Reads the agents of a catalog. Entries of other types, such as MCP servers and other catalogs, are not agents. */
export function readCatalog(wire: { readonly entries: readonly unknown[] }, url: string): AgentCatalog {
  const agents: CatalogAgent[] = [];
  let omitted = 0;
  for (const each of wire.entries) {
    const entry = asJsonObject(each);
    // Drafts of the specification named this member `mediaType`.
    if (!entry || !isCardType(entry.type ?? entry.mediaType)) continue;
    const agent = agents.length < limits.agents ? readEntry(entry, url) : undefined;
    if (agent) agents.push(agent);
    else omitted++;
  }
  return { url, agents, omitted };
}

function isCardType(type: unknown): boolean {
  return typeof type === 'string' && type.split(';', 1)[0]?.trim().toLowerCase() === cardMediaType;
}

function readEntry(entry: JsonObject, catalogUrl: string): CatalogAgent | undefined {
  const identifier = readText(entry.identifier, limits.text);
  const card = asJsonObject(entry.data);
  const cardUrl = card ? undefined : readUrl(entry.url, catalogUrl);
  if (identifier === undefined || (!card && cardUrl === undefined)) return undefined;
  const nameInCard = readText(card?.name, limits.name);
  const description = readText(entry.description, limits.text) ?? readText(card?.description, limits.text);
  const version = readText(entry.version, limits.name) ?? readText(card?.version, limits.name);
  const tags = Array.isArray(entry.tags) ? entry.tags.slice(0, limits.tags) : [];
  return {
    identifier,
    name: readText(entry.displayName, limits.name) ?? nameInCard ?? lastSegment(identifier),
    ...(description !== undefined && { description }),
    ...(version !== undefined && { version }),
    tags: tags.flatMap((tag) => readText(tag, limits.name) ?? []),
    ...(card ? { card } : { cardUrl }),
  };
}

function readText(value: unknown, maxLength: number): string | undefined {
  return typeof value === 'string' && /\S/.test(value) ? truncate(value, maxLength) : undefined;
}

function readUrl(value: unknown, base: string): string | undefined {
  if (typeof value !== 'string' || value.length > limits.text) return undefined;
  const url = parseUrl(value, base);
  if (!url) return undefined;
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:';
  return isWeb && url.username === '' && url.password === '' ? url.href : undefined;
}

function lastSegment(identifier: string): string {
  return truncate(identifier.split(/[:/]/).findLast((each) => each !== '') ?? identifier, limits.name);
}

/** Selects the newest version of each agent. */
export function newestVersions(agents: readonly CatalogAgent[]): CatalogAgent[] {
  const newest = new Map<string, CatalogAgent>();
  for (const agent of agents) {
    const other = newest.get(agent.identifier);
    if (!other || compareVersions(agent.version, other.version) > 0) newest.set(agent.identifier, agent);
  }
  return [...newest.values()];
}

function compareVersions(a = '', b = ''): number {
  return a.localeCompare(b, 'en', { numeric: true });
}

/** An agent that a host offers in its catalog. */
export interface OfferedAgent {
  /** Name of the agent, unique on the host. */
  readonly name: string;
  readonly cardUrl: string;
}

/** Writes the catalog of a host. @param hostUrl - URL below which the catalog is served */
export function writeCatalog(hostUrl: string, agents: readonly OfferedAgent[]): JsonObject {
  // Clients choose the host name, so it may be invalid.
  const { host, hostname } = parseUrl(hostUrl) ?? new URL('http://localhost');
  const entries = agents.map(({ name, cardUrl }) => {
    const urn = `urn:air:${hostname}:agent:${name}`;
    return {
      // Not every address and name has a form that the URN allows.
      identifier: /^[\w.:-]+$/.test(urn) ? urn : cardUrl,
      type: cardMediaType,
      displayName: name,
      url: cardUrl,
    };
  });
  return { specVersion: '1.0', host: { displayName: host }, entries };
}
