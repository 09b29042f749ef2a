import type { Principal } from '../../protocol/agent.ts';
import type { ProtocolVersion } from '../../protocol/card.ts';
import { operationsByName, type PolicyOperation, singleOperationNames } from './policy-operations.ts';
import type {
  AccessRule,
  CallerSelector,
  CallLimit,
  CallSelector,
  PolicySettings,
  PolicyTransport,
} from './policy-settings.ts';
import { matchesTextPattern } from './text-pattern.ts';

/** Who calls. A user of a mesh names itself, so that it is never the client with the same id. */
export interface PolicyCaller {
  /** Undefined for an anonymous caller. */
  readonly principal: Principal | undefined;
  readonly isMeshUser: boolean;
}

/** Size of a request. Its members are measured on first access. */
export interface RequestSize {
  readonly bytes: number;
  readonly parts: number;
  /** Size of the largest file in the message. */
  readonly fileBytes: number;
}

/** A call that a policy decides about. */
export interface PolicyQuestion {
  readonly agent: string;
  readonly operation: PolicyOperation;
  readonly caller: PolicyCaller;
  readonly tenant: string | undefined;
  /** Versions of which the request may be; two if it is valid in both. */
  readonly versions: readonly ProtocolVersion[];
  readonly transport: PolicyTransport;
  readonly size: RequestSize;
}

/** What a decision is about. Callers see the kind, but not the rule. */
export type PolicyKind = 'access' | 'version' | 'transport' | 'size' | 'rate' | 'quota';

/** Answer of a policy. */
export interface PolicyDecision {
  readonly isAllowed: boolean;
  readonly kind: PolicyKind;
  /**
   * The rule or limit that decided. `default` if no rule matched; `visible` for a card that no rule matched, of which the
   * caller may call an operation.
   */
  readonly decidedBy: AccessRule | CallLimit | 'default' | 'visible';
  /** Limits that apply to the call, in the order of the file. */
  readonly limits: readonly CallLimit[];
}

/** Decides about calls by the settings alone: it knows neither rates nor quotas that are used up. */
export class Policy {
  readonly settings: PolicySettings;

  constructor(settings: PolicySettings) {
    this.settings = settings;
  }

  decide(question: PolicyQuestion): PolicyDecision {
    const access = this.#decideAccess(question);
    const isCard = question.operation === 'card';
    const limits = this.settings.limits.filter(
      // Reading a card is not a call of the agent, unless a limit names it.
      (limit) => matches(limit, question) && (!isCard || limit.operations !== undefined),
    );
    if (!access.isAllowed) return { ...access, kind: 'access', limits };
    for (const limit of limits) {
      const kind = exceededKind(limit, question);
      if (kind) return { isAllowed: false, kind, decidedBy: limit, limits };
    }
    return { ...access, kind: 'access', limits };
  }

  /** Returns true if a caller may use an agent in a version over a transport, with any operation. */
  offers(question: Omit<PolicyQuestion, 'operation' | 'size' | 'tenant'>): boolean {
    return messageOperations.some((operation) =>
      this.settings.limits.every(
        (limit) =>
          !matches(limit, { ...question, operation, tenant: undefined }) ||
          (allows(limit.versions, question.versions) && allows(limit.transports, [question.transport])),
      ),
    );
  }

  #decideAccess(question: PolicyQuestion): Pick<PolicyDecision, 'isAllowed' | 'decidedBy'> {
    const { rules, defaultEffect } = this.settings;
    const rule = rules.find((each) => matches(each, question));
    if (rule) return { isAllowed: rule.effect === 'allow', decidedBy: rule };
    if (question.operation === 'card' && this.#isVisible(question))
      return { isAllowed: true, decidedBy: 'visible' };
    return { isAllowed: defaultEffect === 'allow', decidedBy: 'default' };
  }

  /** Returns true if the caller may call at least one operation of the agent, in any tenant. */
  #isVisible({ agent, caller }: PolicyQuestion): boolean {
    const { rules, defaultEffect } = this.settings;
    return callableOperations.some((operation) => {
      for (const rule of rules) {
        const { tenants, ...callers } = rule.callers;
        if (!matches({ ...rule, callers }, { agent, caller, operation, tenant: undefined })) continue;
        // Other tenants may be allowed what a rule denies to some.
        if (tenants && rule.effect === 'deny') continue;
        return rule.effect === 'allow';
      }
      return defaultEffect === 'allow';
    });
  }
}

const callableOperations: readonly PolicyOperation[] = singleOperationNames
  .flatMap((name): readonly PolicyOperation[] => operationsByName[name])
  .filter((operation) => operation !== 'card');

const messageOperations = callableOperations.filter((operation) => operation !== 'extendedCard');

function matches(
  { agents, operations, callers }: CallSelector,
  call: Pick<PolicyQuestion, 'agent' | 'operation' | 'caller' | 'tenant'>,
): boolean {
  return (
    (!operations || operations.includes(call.operation)) &&
    (!agents || agents.some((pattern) => matchesTextPattern(pattern, call.agent))) &&
    matchesCaller(callers, call.caller, call.tenant)
  );
}

const meshPrefix = 'mesh:';

function matchesCaller(
  { principals, issuers, scopes, tenants }: CallerSelector,
  { principal, isMeshUser }: PolicyCaller,
  tenant: string | undefined,
): boolean {
  if (tenants && (tenant === undefined || !tenants.some((pattern) => matchesTextPattern(pattern, tenant))))
    return false;
  if (!principals && !issuers && !scopes) return true;
  if (!principal) return false;
  const { id, issuer, scopes: granted = [] } = principal;
  return (
    (!principals || principals.some((pattern) => matchesPrincipal(pattern, id, isMeshUser))) &&
    (!issuers || (issuer !== undefined && issuers.includes(issuer))) &&
    (!scopes || scopes.every((scope) => granted.includes(scope)))
  );
}

/** A pattern of mesh users starts with `mesh:` and matches no other caller, whatever its id is. */
function matchesPrincipal(pattern: string, id: string, isMeshUser: boolean): boolean {
  return pattern.startsWith(meshPrefix)
    ? isMeshUser && matchesTextPattern(pattern.slice(meshPrefix.length), id)
    : !isMeshUser && matchesTextPattern(pattern, id);
}

/** Returns what a request exceeds; undefined if it is within the limit. */
function exceededKind(
  limit: CallLimit,
  { operation, versions, transport, size }: PolicyQuestion,
): PolicyKind | undefined {
  // A card is the same in all versions, and tells the client which of them it may use.
  if (operation === 'card') return undefined;
  if (!allows(limit.versions, versions)) return 'version';
  if (!allows(limit.transports, [transport])) return 'transport';
  const { requestBytes = Infinity, parts = Infinity, fileBytes = Infinity } = limit;
  const isTooLarge =
    (requestBytes !== Infinity && size.bytes > requestBytes) ||
    (parts !== Infinity && size.parts > parts) ||
    (fileBytes !== Infinity && size.fileBytes > fileBytes);
  return isTooLarge ? 'size' : undefined;
}

function allows<T>(allowed: readonly T[] | undefined, given: readonly T[]): boolean {
  return !allowed || given.some((each) => allowed.includes(each));
}
