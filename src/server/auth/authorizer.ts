import type { Agent, CallContext, Operation } from '../../protocol/agent.ts';
import type { AgentCard, SecurityRequirement } from '../../protocol/card.ts';
import { namedSkillIds, type SendRequest } from '../../protocol/requests.ts';
import type { HttpServerRequest } from '../http/http-message.ts';
import type { AuthenticatorChain } from './authenticator-chain.ts';
import { findMissingAccess, effectiveRequirements } from './security-requirements.ts';

/** The operation to authorize. */
interface RequestedOperation {
  operation: Operation;
  request: unknown;
  call: CallContext;
}

/** Authorizes authenticated requests against the security requirements of the card and `authorize()`. */
export class Authorizer {
  readonly #authenticators: AuthenticatorChain;
  readonly #agent: Agent;
  readonly #requirements = new WeakMap<AgentCard, readonly SecurityRequirement[]>();

  constructor(authenticators: AuthenticatorChain, agent: Agent) {
    this.#authenticators = authenticators;
    this.#agent = agent;
  }

  /** @throws {@link AuthError} if the client is not authorized. */
  async check(
    httpRequest: HttpServerRequest,
    { operation, request, call: { tenant } }: RequestedOperation,
  ): Promise<void> {
    const { authentication } = httpRequest;
    // The extended card requires authentication, even with `allowAnonymous`.
    if (operation === 'extendedCard' && !authentication) throw this.#authenticators.challenge(httpRequest);
    const card = await this.#agent.card();
    this.#require(httpRequest, this.#requirementsOf(card));
    const isMessage = operation === 'send' || operation === 'stream';
    const skillIds = isMessage ? namedSkillIds(request as SendRequest) : [];
    for (const { id, securityRequirements = [] } of card.skills) {
      if (securityRequirements.length > 0 && skillIds.includes(id))
        this.#require(httpRequest, securityRequirements);
    }
    const { authorize } = this.#authenticators.options;
    if (!authorize) return;
    const authorizationRequest = {
      operation,
      request,
      ...(skillIds[0] !== undefined && { skillId: skillIds[0] }),
      ...(tenant !== undefined && { tenant }),
    };
    if (await authorize(authentication?.principal, authorizationRequest)) return;
    if (!authentication) throw this.#authenticators.challenge(httpRequest);
    throw this.#authenticators.permissionDenied([], httpRequest, `authorize() denied ${operation}.`);
  }

  #requirementsOf(card: AgentCard): readonly SecurityRequirement[] {
    let requirements = this.#requirements.get(card);
    if (!requirements)
      this.#requirements.set(card, (requirements = effectiveRequirements(card, this.#authenticators)));
    return requirements;
  }

  #require(httpRequest: HttpServerRequest, requirements: readonly SecurityRequirement[]): void {
    const missing = findMissingAccess(httpRequest.authentication, requirements);
    if (!missing) return;
    if (!httpRequest.authentication) throw this.#authenticators.challenge(httpRequest);
    throw this.#authenticators.permissionDenied(missing.scopes, httpRequest);
  }
}
