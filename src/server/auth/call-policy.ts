import type { MaybePromise } from '../../primitives/maybe-promise.ts';
import type { Operation, Principal } from '../../protocol/agent.ts';
import type { AgentInterface, ProtocolVersion, Transport } from '../../protocol/card.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { HttpServerRequest } from '../http/http-message.ts';
import type { ServerContext } from '../http/server-context.ts';
import { clientKey } from '../limits/client-limiter.ts';
import type { OperationCall } from '../operations/invoke-agent.ts';

/** A call that a {@link CallPolicy} decides about. */
export interface PolicyCall {
  readonly operation: Operation | 'card';
  /** Undefined for an anonymous caller. */
  readonly principal: Principal | undefined;
  /** Identifies the client: its principal, or its address. */
  readonly client: string;
  readonly tenant: string | undefined;
  /** Versions of which the request may be; two if it is valid in both. */
  readonly versions: readonly ProtocolVersion[];
  readonly transport: Transport;
  /** The version-neutral request. */
  readonly request: unknown;
  /** Size of the request body in bytes. */
  readonly bytes: number;
}

/** Decides about every call of an agent after authentication, independent of version and transport. */
export interface CallPolicy {
  /** @throws {@link A2AError} if the call is denied, also as a rejection. */
  check(call: PolicyCall): MaybePromise<void>;
  /** Returns true if the card lists an interface for a client. */
  offers(listed: AgentInterface, principal: Principal | undefined): boolean;
}

/**
 * Checks an operation against the security requirements of the card and the policy.
 *
 * @returns undefined if the server has neither.
 */
export function authorizeCall(
  context: ServerContext,
  request: HttpServerRequest,
  operationCall: OperationCall,
  transport: Transport,
  isAmbiguous = false,
): Promise<void> | undefined {
  const { authorizer, policy } = context;
  if (!policy) return authorizer?.check(request, operationCall);
  const { operation, request: content, call, dialect } = operationCall;
  return (authorizer?.check(request, operationCall) ?? Promise.resolve()).then(() =>
    checkPolicy(context, request, {
      operation,
      tenant: call.tenant,
      versions: isAmbiguous ? [dialect.version, '0.1'] : [dialect.version],
      transport,
      request: content,
    }),
  );
}

/** Asks the policy. A client without credentials that is denied gets a challenge. */
export async function checkPolicy(
  { policy, authenticators }: ServerContext,
  request: HttpServerRequest,
  call: Omit<PolicyCall, 'principal' | 'client' | 'bytes'>,
): Promise<void> {
  const { authentication } = request;
  try {
    await policy?.check({
      ...call,
      principal: authentication?.principal,
      client: clientKey(request),
      get bytes() {
        return request.bodyLength ?? new TextEncoder().encode(request.body).length;
      },
    });
  } catch (thrown) {
    const isDenied = thrown instanceof A2AError && thrown.reason === 'PERMISSION_DENIED';
    throw isDenied && !authentication && authenticators ? authenticators.challenge(request) : thrown;
  }
}
