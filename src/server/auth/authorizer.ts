import type { Agent, CallContext, Operation } from '../../protocol/agent.ts';
import type { AgentCard, SecurityRequirement } from '../../protocol/card.ts';
import type { Metadata } from '../../protocol/part.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import type { HttpServerRequest } from '../http/http-message.ts';
import type { AuthenticatorChain } from './authenticator-chain.ts';
import { findMissingAccess, effectiveRequirements } from './security-requirements.ts';

/** What somebody asks for. */
interface Wish {
  operation: Operation;
  request: unknown;
  call: CallContext;
}

/** Decides what those who came through the gate may do, before anything is looked up. */
export class Authorizer {
  readonly #gate: AuthenticatorChain;
  readonly #agent: Agent;
  readonly #needs = new WeakMap<AgentCard, readonly SecurityRequirement[]>();

  constructor(gate: AuthenticatorChain, agent: Agent) {
    this.#gate = gate;
    this.#agent = agent;
  }

  /** @throws {@link Refusal} when the caller may not do it. */
  async check(exchange: HttpServerRequest, { operation, request, call: { tenant } }: Wish): Promise<void> {
    const { authentication: caller } = exchange;
    // The extended card is for those who are known, even where others may call.
    if (operation === 'extendedCard' && !caller) throw this.#gate.challenge(exchange);
    const card = await this.#agent.card();
    this.#demand(exchange, this.#needsOf(card));
    const named = skillsNamed(operation, request);
    for (const { id, securityRequirements = [] } of card.skills) {
      if (securityRequirements.length > 0 && named.includes(id)) this.#demand(exchange, securityRequirements);
    }
    const { authorize } = this.#gate.options;
    if (!authorize) return;
    const intent = {
      operation,
      request,
      ...(named[0] !== undefined && { skillId: named[0] }),
      ...(tenant !== undefined && { tenant }),
    };
    if (await authorize(caller?.principal, intent)) return;
    if (!caller) throw this.#gate.challenge(exchange);
    throw this.#gate.permissionDenied([], exchange, `authorize said no to ${operation}.`);
  }

  #needsOf(card: AgentCard): readonly SecurityRequirement[] {
    let needs = this.#needs.get(card);
    if (!needs) this.#needs.set(card, (needs = effectiveRequirements(card, this.#gate)));
    return needs;
  }

  #demand(exchange: HttpServerRequest, needs: readonly SecurityRequirement[]): void {
    const lack = findMissingAccess(exchange.authentication, needs);
    if (!lack) return;
    if (!exchange.authentication) throw this.#gate.challenge(exchange);
    throw this.#gate.permissionDenied(lack.scopes, exchange);
  }
}

/** The skills that a message names in its metadata, or in that of its request: `skillId`, or `skill` for short. */
function skillsNamed(operation: Operation, request: unknown): string[] {
  if (operation !== 'send' && operation !== 'stream') return [];
  const { message, metadata } = request as SendRequest;
  return [...namedIn(message.metadata), ...namedIn(metadata)];
}

function namedIn(metadata: Metadata | undefined): string[] {
  if (!metadata) return [];
  return ['skillId', 'skill']
    .map((name) => (Object.hasOwn(metadata, name) ? metadata[name] : undefined))
    .filter((value) => typeof value === 'string');
}
