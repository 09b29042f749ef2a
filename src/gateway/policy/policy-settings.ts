import type { ProtocolVersion } from '../../protocol/card.ts';
import type { PolicyOperation } from './policy-operations.ts';

/** Transports that a policy distinguishes. */
export type PolicyTransport = 'JSONRPC' | 'HTTP+JSON' | 'GRPC' | 'mesh';

/** All transports. */
export const policyTransports: readonly PolicyTransport[] = ['JSONRPC', 'HTTP+JSON', 'GRPC', 'mesh'];

/** Callers of a rule or limit; all given members must match. */
export interface CallerSelector {
  readonly principals?: readonly string[] | undefined;
  readonly issuers?: readonly string[] | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly tenants?: readonly string[] | undefined;
}

/** Calls to which a rule or limit applies. */
export interface CallSelector {
  readonly callers: CallerSelector;
  /** Patterns of names; undefined for all agents. */
  readonly agents: readonly string[] | undefined;
  /** Undefined for all operations. */
  readonly operations: readonly PolicyOperation[] | undefined;
  /** Line in the gateway file. */
  readonly line: number;
}

/** A rule about who may call. */
export interface AccessRule extends CallSelector {
  readonly effect: 'allow' | 'deny';
}

/** Period of a quota. */
export type QuotaPeriod = 'hour' | 'day' | 'month';

/** A limit of the calls that it matches. */
export interface CallLimit extends CallSelector {
  readonly name: string;
  readonly versions: readonly ProtocolVersion[] | undefined;
  readonly transports: readonly PolicyTransport[] | undefined;
  readonly requestBytes: number | undefined;
  readonly parts: number | undefined;
  readonly fileBytes: number | undefined;
  readonly rate: { readonly perSecond: number; readonly burst: number } | undefined;
  readonly quota: { readonly requests: number; readonly per: QuotaPeriod } | undefined;
  readonly countBy: 'caller' | 'tenant' | 'all';
}

/** Settings of a policy, with defaults applied. */
export interface PolicySettings {
  readonly defaultEffect: 'allow' | 'deny';
  /** The first rule that matches decides. */
  readonly rules: readonly AccessRule[];
  /** All limits that match apply. */
  readonly limits: readonly CallLimit[];
  /** Line of `policy` in the gateway file. */
  readonly line: number;
}
