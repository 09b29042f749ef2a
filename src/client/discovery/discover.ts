/**
 * Finding an agent: its card, wherever it is, or at least an address that answers.
 *
 * @module
 */
import { chooseForCard } from '../../dialects/choose-card.ts';
import { leniently } from '../../dialects/loss.ts';
import { v0_3 } from '../../dialects/v0_3/index.ts';
import type { AgentCard } from '../../protocol/card.ts';
import { A2AError } from '../../protocol/errors.ts';
import { type Endpoint, parseJson, unreadable } from '../bindings/binding.ts';
import { endpointsOf, guessedEndpoints } from './endpoint.ts';
import { askWhole, targetOf, type Whole } from '../http/exchange.ts';
import { hintOf, oddAnswer, withHint } from '../http/hint.ts';
import type { Settings } from '../options.ts';

/** What is known of an agent before anybody spoke to it. */
export interface Found {
  /** Undefined where there is none. */
  card: AgentCard | undefined;
  cardUrl: string | undefined;
  /** Every way to speak to it, the best first. */
  endpoints: Endpoint[];
  /** The name of the place in the memory of what agents really speak. */
  place: string;
}

const wellKnown = ['.well-known/agent-card.json', '.well-known/agent.json'];

/** Finds the agent that an address or a card stands for. */
export async function discover(settings: Settings, where: string | URL | object): Promise<Found> {
  if (typeof where !== 'string' && !(where instanceof URL)) return fromCard(settings, where, undefined);
  const given = readUrl(where);
  const refused: A2AError[] = [];
  for (const place of ladder(given, settings)) {
    const card = await fetchCard(settings, place.url, refused);
    if (card === undefined || (place.mustName && !names(card, given))) continue;
    return fromCard(settings, card, place.url.href);
  }
  // Credentials that are missing say more than a place where nothing is.
  const told = refused.find(({ reason }) => reason === 'UNAUTHENTICATED' || reason === 'PERMISSION_DENIED');
  if (told) throw told;
  if (settings.cardPath !== undefined) throw refused[0] ?? noCard(given);
  const endpoints = guessedEndpoints(given.href, settings);
  return { card: undefined, cardUrl: undefined, endpoints, place: given.href };
}

function readUrl(where: string | URL): URL {
  if (!URL.canParse(String(where)))
    throw new A2AError('INVALID_PARAMS', `${String(where)} is not a URL`, {
      hint: 'Write the whole address, such as http://localhost:4000.',
    });
  const url = new URL(where);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new A2AError('INVALID_PARAMS', `${url.href} is not an address of HTTP`);
  return url;
}

interface Rung {
  url: URL;
  /** The card counts only if it speaks of the address that was given: a host may have several agents. */
  mustName?: boolean;
}

/** Where a card may be, the likeliest place first. */
function ladder(given: URL, { cardPath }: Settings): Rung[] {
  if (cardPath !== undefined) return [{ url: new URL(cardPath, given) }];
  const itself = { url: given };
  if (given.pathname.endsWith('.json')) return [itself];
  const folder = new URL(given);
  folder.search = '';
  folder.hash = '';
  if (!folder.pathname.endsWith('/')) folder.pathname += '/';
  const below = wellKnown.map((path) => ({ url: new URL(path, folder) }));
  if (folder.pathname === '/') return [...below, itself];
  const atRoot = wellKnown.map((path) => ({ url: new URL(`/${path}`, given), mustName: true }));
  return [...below, itself, ...atRoot];
}

/** The card at an address, or undefined where there is none. */
async function fetchCard(settings: Settings, url: URL, refused: A2AError[]): Promise<object | undefined> {
  const { cardAuth, auth } = settings;
  let answer = await askForCard(settings, url, cardAuth);
  if (answer.status === 401 && !cardAuth && auth) answer = await askForCard(settings, url, auth);
  const about = {
    status: answer.status,
    url: url.href,
    authenticate: answer.header('www-authenticate'),
    contentType: answer.header('content-type'),
    body: answer.text,
  };
  if (answer.status >= 500) throw withHint(oddAnswer(about), hintOf(about));
  const body = answer.status < 300 ? parseJson(answer.text) : undefined;
  if (looksLikeCard(body)) return body;
  refused.push(oddAnswer(about));
  return undefined;
}

function askForCard(settings: Settings, url: URL, auth: Settings['auth']): Promise<Whole> {
  return askWhole(settings, {
    operation: 'card',
    method: 'GET',
    target: targetOf(url),
    headers: {
      accept: 'application/json, application/a2a+json',
      'a2a-version': '1.0',
      'user-agent': 'dragoman',
      ...settings.cardHeaders,
    },
    call: {},
    auth,
  });
}

function looksLikeCard(body: unknown): body is object {
  return (
    typeof body === 'object' &&
    body !== null &&
    'name' in body &&
    ('url' in body || 'supportedInterfaces' in body || 'supported_interfaces' in body)
  );
}

/** True when a card has an interface at this path, on whatever host. */
function names(card: object, given: URL): boolean {
  const path = given.pathname.replace(/\/+$/, '');
  const { card: read } = readCard(card);
  return read.interfaces.some(
    ({ url }) => URL.canParse(url, given.href) && new URL(url, given).pathname.replace(/\/+$/, '') === path,
  );
}

function readCard(wire: object): { card: AgentCard; uncertain: boolean } {
  if ('interfaces' in wire) return { card: wire as AgentCard, uncertain: false };
  const { dialect, hybrid, uncertain } = chooseForCard(wire);
  const card = dialect.card.read(wire, leniently());
  if (hybrid) addOlderHalf(card, wire);
  return { card, uncertain };
}

/** A card of two versions names more addresses in the words of the older one. */
function addOlderHalf(card: AgentCard, wire: object): void {
  try {
    const known = new Set(card.interfaces.map((each) => JSON.stringify(each)));
    for (const each of v0_3.card.read(wire, leniently()).interfaces) {
      if (!known.has(JSON.stringify(each))) card.interfaces.push(each);
    }
  } catch {
    // The newer half is enough.
  }
}

function fromCard(settings: Settings, wire: object, cardUrl: string | undefined): Found {
  let read: { card: AgentCard; uncertain: boolean };
  try {
    read = readCard(wire);
  } catch (thrown) {
    throw unreadable(thrown, cardUrl ?? 'the card');
  }
  const { card, uncertain } = read;
  const endpoints = endpointsOf(card, { url: cardUrl, uncertain }, settings);
  if (endpoints.length === 0) throw noWay(card, settings);
  const place = cardUrl ?? endpoints[0]?.url ?? '';
  return { card, cardUrl, endpoints, place };
}

function noWay(card: AgentCard, { transports, versions }: Settings): A2AError {
  const offers = card.interfaces.map(
    (each) => `${each.protocolBinding} ${each.protocolVersion} at ${each.url}`,
  );
  const wanted = [...(transports ?? []), ...(versions ?? [])].join(', ');
  return new A2AError('VERSION_NOT_SUPPORTED', `There is no way to speak to ${card.name}`, {
    hint: `It offers ${offers.join('; ') || 'nothing'}.${wanted === '' ? '' : ` Wanted: ${wanted}.`}`,
  });
}

function noCard(given: URL): A2AError {
  return new A2AError('NOT_FOUND', `There is no agent card for ${given.href}`);
}
