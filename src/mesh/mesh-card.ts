/**
 * Cards as they are on the mesh.
 *
 * @module
 */
import { dialectForCard } from '../dialects/card-negotiation.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { WireObject } from '../dialects/field-readers.ts';
import { lenientMode } from '../dialects/translation-loss.ts';
import { v0_1 } from '../dialects/v0_1/index.ts';
import { v0_3 } from '../dialects/v0_3/index.ts';
import type { AgentCard, AgentExtension } from '../protocol/card.ts';
import type { MeshTopics } from './mesh-topics.ts';

/** The extension by which a card carries the name that people see. */
const displayNameExtension = 'https://solace.com/a2a/extensions/display-name';

/** The extension whose presence marks the card of a gateway. */
const gatewayRole = '/sam/gateway-role';

/** How the card of an agent becomes one of the mesh. */
export interface MeshCardOptions {
  /** The name on the mesh. */
  readonly name: string;
  readonly topics: MeshTopics;
  /** The name that people see. */
  readonly displayName?: string;
}

/** Writes the card of an agent as it announces itself; everything but name and address stays as it is. */
export function writeMeshCard(card: AgentCard, dialect: Dialect, naming: MeshCardOptions): unknown {
  const { name, topics } = naming;
  const displayName = naming.displayName ?? displayNameOf(card) ?? card.name;
  const others = card.capabilities.extensions?.filter(({ uri }) => uri !== displayNameExtension) ?? [];
  const named: AgentExtension = { uri: displayNameExtension, params: { display_name: displayName } };
  const protocolVersion = dialect === v0_1 ? '0.1' : '0.3';
  const { signatures: _ofAnotherShape, ...kept } = card;
  const placed: AgentCard = {
    ...kept,
    name,
    interfaces: [{ url: `solace:${topics.request(name)}`, protocolBinding: 'JSONRPC', protocolVersion }],
    capabilities: { ...card.capabilities, extensions: [...others, named] },
  };
  const wire = dialect.card.write(placed) as WireObject;
  // Readers of the first years want these members, and want them flat.
  return dialect === v0_1 ? { description: '', ...wire, display_name: displayName, peer_agents: {} } : wire;
}

/** The name that people see, if the card has one. */
export function displayNameOf(card: AgentCard): string | undefined {
  const found = card.capabilities.extensions?.find(({ uri }) => uri === displayNameExtension);
  const name = found?.params?.display_name;
  return typeof name === 'string' && name !== '' ? name : undefined;
}

/** A card that somebody announced. */
export interface MeshCard {
  readonly card: AgentCard;
  readonly kind: 'agent' | 'gateway';
  /** What the agent speaks, as far as its card tells. */
  readonly dialect: Dialect;
}

/** Reads a card off the mesh. @throws {@link A2AError} INVALID_PARAMS when it is none. */
export function readMeshCard(wire: unknown): MeshCard {
  const dialect = dialectOf(wire);
  const card = dialect.card.read(wire, lenientMode());
  const flat = (wire as WireObject).display_name;
  if (typeof flat === 'string' && flat !== '' && displayNameOf(card) === undefined) {
    const named: AgentExtension = { uri: displayNameExtension, params: { display_name: flat } };
    card.capabilities.extensions = [...(card.capabilities.extensions ?? []), named];
  }
  const isGateway = card.capabilities.extensions?.some(({ uri }) => uri.endsWith(gatewayRole)) ?? false;
  return { card, kind: isGateway ? 'gateway' : 'agent', dialect };
}

/** Cards of the first years name no version, but always the agents beside them. */
function dialectOf(wire: unknown): Dialect {
  const { dialect, version } = dialectForCard(wire);
  if (version !== 'unknown') return dialect;
  return typeof wire === 'object' && wire !== null && 'peer_agents' in wire ? v0_1 : v0_3;
}
