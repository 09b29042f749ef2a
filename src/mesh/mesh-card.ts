/**
 * Agent cards in announcements on the mesh.
 *
 * @module
 */
import { dialectForCard } from '../dialects/card-negotiation.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { WireObject } from '../dialects/field-readers.ts';
import { lenientMode } from '../dialects/translation-loss.ts';
import { v0_1 } from '../dialects/v0_1/index.ts';
import { v0_3 } from '../dialects/v0_3/index.ts';
import { type AgentCard, type AgentExtension, idempotencyExtension } from '../protocol/card.ts';
import type { MeshTopics } from './mesh-topics.ts';

/** Extension of a card with the display name of the agent. */
const displayNameExtension = 'https://solace.com/a2a/extensions/display-name';

/** Extensions of a card that its announcement does not contain as they are. Requests on the mesh have no idempotency key. */
const unannounced: ReadonlySet<string> = new Set([displayNameExtension, idempotencyExtension]);

/** Suffix of the extension that marks the card of a gateway. */
const gatewayRoleSuffix = '/sam/gateway-role';

/** Options of {@link writeMeshCard}. */
export interface MeshCardOptions {
  /** Name on the mesh. */
  readonly name: string;
  readonly topics: MeshTopics;
  /** Name for users. */
  readonly displayName?: string;
}

/** Encodes a card for its announcement. Only name, interfaces, display name and the idempotency key change. */
export function writeMeshCard(card: AgentCard, dialect: Dialect, options: MeshCardOptions): unknown {
  const { name, topics } = options;
  const displayName = options.displayName ?? displayNameOf(card) ?? card.name;
  const others = card.capabilities.extensions?.filter(({ uri }) => !unannounced.has(uri)) ?? [];
  const extension: AgentExtension = { uri: displayNameExtension, params: { display_name: displayName } };
  const protocolVersion = dialect === v0_1 ? '0.1' : '0.3';
  const { signatures: _invalidated, ...unsigned } = card;
  const meshCard: AgentCard = {
    ...unsigned,
    name,
    interfaces: [{ url: `solace:${topics.request(name)}`, protocolBinding: 'JSONRPC', protocolVersion }],
    capabilities: { ...card.capabilities, extensions: [...others, extension] },
  };
  const wire = dialect.card.write(meshCard) as WireObject;
  // Early receivers require these top-level members.
  return dialect === v0_1 ? { description: '', ...wire, display_name: displayName, peer_agents: {} } : wire;
}

/** Returns the display name of a card; undefined if it has none. */
export function displayNameOf(card: AgentCard): string | undefined {
  const extension = card.capabilities.extensions?.find(({ uri }) => uri === displayNameExtension);
  const name = extension?.params?.display_name;
  return typeof name === 'string' && name !== '' ? name : undefined;
}

/** A card that was announced on the mesh. */
export interface MeshCard {
  readonly card: AgentCard;
  readonly kind: 'agent' | 'gateway';
  /** Dialect of the agent according to its card. */
  readonly dialect: Dialect;
}

/** Decodes an announced card. @throws {@link A2AError} `INVALID_PARAMS` if it is not a card. */
export function readMeshCard(wire: unknown): MeshCard {
  const dialect = dialectOf(wire);
  const card = dialect.card.read(wire, lenientMode());
  const displayName = (wire as WireObject).display_name;
  if (typeof displayName === 'string' && displayName !== '' && displayNameOf(card) === undefined) {
    const extension: AgentExtension = { uri: displayNameExtension, params: { display_name: displayName } };
    card.capabilities.extensions = [...(card.capabilities.extensions ?? []), extension];
  }
  const isGateway = card.capabilities.extensions?.some(({ uri }) => uri.endsWith(gatewayRoleSuffix)) ?? false;
  return { card, kind: isGateway ? 'gateway' : 'agent', dialect };
}

/** Early cards do not name a version, but always contain `peer_agents`. */
function dialectOf(wire: unknown): Dialect {
  const { dialect, version } = dialectForCard(wire);
  if (version !== 'unknown') return dialect;
  return typeof wire === 'object' && wire !== null && 'peer_agents' in wire ? v0_1 : v0_3;
}
