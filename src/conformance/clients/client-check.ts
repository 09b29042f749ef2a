import type { CheckedTransport, CheckedVersion, ConformanceRule } from '../rule-model.ts';
import type { ClientOperation } from './client-under-test.ts';
import type { ClientProbe } from './client-probe.ts';
import type { ClientRun } from './client-run.ts';
import type { ReceivedRequest } from './server/received-request.ts';
import type { HttpExchange } from '../wire/http-exchange.ts';

/** An active test of one rule for clients. */
export interface ClientCheck extends ConformanceRule {
  readonly versions: readonly CheckedVersion[];
  /** @defaultValue all transports of the version */
  readonly transports?: readonly CheckedTransport[];
  /** `card`: runs once for each version. `wire`: runs for each version and transport. @defaultValue `wire` */
  readonly about?: 'card' | 'wire';
  /** Operation without which the rule is not applicable. @defaultValue `send` */
  readonly needs?: ClientOperation;
  /**
   * Resolves if the rule holds.
   *
   * @throws RuleViolationError, NotApplicableError or InconclusiveError otherwise.
   */
  run(probe: ClientProbe): Promise<void>;
}

/** A request of the client, regardless of the running check. */
export interface ClientObservation {
  /** The version and transport that the card offers. */
  readonly driver: { readonly version: CheckedVersion; readonly transport: CheckedTransport };
  readonly exchange: HttpExchange;
  readonly request: ReceivedRequest;
  readonly run: ClientRun;
}

/** A rule for clients that is evaluated on every request. */
export interface ClientInvariant extends ConformanceRule {
  readonly versions: readonly CheckedVersion[];
  readonly transports?: readonly CheckedTransport[];
  /** Returns what is wrong; undefined if the rule does not apply to the request. */
  check(observation: ClientObservation): readonly string[] | undefined;
}

/** Members that the rules of a group share. A rule may replace them. */
type GroupDefaults<Rule> = Partial<Rule>;

/** Defines a group of checks. A check without one of the members of `defaults` inherits it. */
export function defineClientChecks<Defaults extends GroupDefaults<ClientCheck>>(
  defaults: Defaults,
  checks: readonly (Omit<ClientCheck, keyof Defaults> & Partial<ClientCheck>)[],
): readonly ClientCheck[] {
  return checks.map((check) => ({ ...defaults, ...check }) as ClientCheck);
}

/** Defines a group of invariants. An invariant without one of the members of `defaults` inherits it. */
export function defineClientInvariants<Defaults extends GroupDefaults<ClientInvariant>>(
  defaults: Defaults,
  invariants: readonly (Omit<ClientInvariant, keyof Defaults> & Partial<ClientInvariant>)[],
): readonly ClientInvariant[] {
  return invariants.map((invariant) => ({ ...defaults, ...invariant }) as ClientInvariant);
}

/** All versions that clients are tested in. */
export const clientVersions: readonly CheckedVersion[] = ['1.0', '0.3', '0.1'];
/** Versions in which the server creates the ids of tasks. */
export const contextVersions: readonly CheckedVersion[] = ['1.0', '0.3'];
