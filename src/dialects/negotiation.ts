import type { Operation } from '../protocol/agent.ts';
import type { ProtocolVersion } from '../protocol/card.ts';
import { A2AError, type A2AErrorOptions, type ErrorReason } from '../protocol/errors.ts';
import type { Dialect } from './dialect.ts';
import { v0_1 } from './v0_1/index.ts';
import { v0_3 } from './v0_3/index.ts';
import { v0_3_rest } from './v0_3_rest/index.ts';
import { v1_0 } from './v1_0/index.ts';

export { type CardDialect, dialectForCard } from './card-negotiation.ts';

/** Every version that a peer may ask for, newest first. */
export const supportedVersions: readonly ProtocolVersion[] = ['1.0', '0.3', '0.2', '0.1'];

/** A peer could not be given a dialect for what it asks; it is told so in the words of {@link NegotiationError.dialect}. */
export class NegotiationError extends A2AError {
  /** The dialect to answer in. */
  readonly dialect: Dialect;

  constructor(reason: ErrorReason, message: string, dialect: Dialect, options?: A2AErrorOptions) {
    super(reason, message, options);
    this.dialect = dialect;
  }
}

const namedVersions: ReadonlyMap<string, ProtocolVersion> = new Map(
  supportedVersions.map((each) => [each, each]),
);
const majorMinor = /^\s*(\d+\.\d+)(?:\.[^\s]*)?\s*$/;

/**
 * Reads the value of `A2A-Version`: major and minor count, a patch number does not.
 *
 * @returns undefined when the peer names no version.
 * @throws {@link NegotiationError} VERSION_NOT_SUPPORTED, to be answered in 1.0, the version that has the header.
 */
export function parseVersionHeader(text: string | undefined): ProtocolVersion | undefined {
  if (text === undefined || text === '') return undefined;
  const known = namedVersions.get(text) ?? namedVersions.get(majorMinor.exec(text)?.[1] ?? '');
  if (known !== undefined) return known;
  if (text.trim() === '') return undefined;
  throw new NegotiationError('VERSION_NOT_SUPPORTED', `A2A ${text} is not spoken here`, v1_0, {
    details: { version: text, supported: supportedVersions.join(', ') },
  });
}

/** Which dialect a JSON-RPC method belongs to, and what it asks for. */
export interface MethodMatch {
  readonly dialect: Dialect;
  readonly operation: Operation;
  /**
   * True when 0.1 and 0.3 share the name and nothing said which one it is: if the task began in 0.1, its caller
   * expects the answer in 0.1.
   */
  readonly ambiguous: boolean;
}

/** What may help to choose. */
export interface MethodContext {
  /** The path that the request came in on; a segment `v0.1` or `0.1` settles what the method leaves open. */
  readonly path?: string;
  /**
   * Lets the name of the method win over the version, named or not.
   * @defaultValue false, as 1.0 wants it: no version means 0.3
   */
  readonly lenient?: boolean;
}

type Table = ReadonlyMap<string, MethodMatch>;

function tableOf(dialect: Dialect, isAmbiguous: (method: string) => boolean = () => false): Table {
  return new Map(
    [...dialect.methods].map(([method, operation]) => [
      method,
      Object.freeze({ dialect, operation, ambiguous: isAmbiguous(method) }),
    ]),
  );
}

const in0_1 = tableOf(v0_1);
const in0_3 = tableOf(v0_3);
const in1_0 = tableOf(v1_0);
/** For peers that name no version: what both have belongs to 0.3 until the task says otherwise. */
const unversioned: Table = new Map([...in0_1, ...tableOf(v0_3, (method) => v0_1.methods.has(method))]);

const tables: ReadonlyMap<ProtocolVersion | undefined, Table> = new Map<ProtocolVersion | undefined, Table>([
  [undefined, unversioned],
  ['0.1', in0_1],
  ['0.2', in0_3],
  ['0.3', in0_3],
  ['1.0', in1_0],
]);

const dialects: ReadonlyMap<ProtocolVersion | undefined, Dialect> = new Map<
  ProtocolVersion | undefined,
  Dialect
>([
  [undefined, v0_3],
  ['0.1', v0_1],
  ['0.2', v0_3],
  ['0.3', v0_3],
  ['1.0', v1_0],
]);

/** The JSON-RPC dialect of a version; without a version it is 0.3. */
export function dialectForVersion(version: ProtocolVersion | undefined): Dialect {
  return dialects.get(version) ?? v0_3;
}

const path0_1 = /(?:^|\/)v?0\.1(?:\/|$)/;

/**
 * Chooses the dialect of a JSON-RPC method.
 *
 * @throws {@link NegotiationError} METHOD_NOT_FOUND, or VERSION_NOT_SUPPORTED for a method of 1.0 without the version.
 */
export function dialectForMethod(
  method: string,
  version: ProtocolVersion | undefined,
  hints: MethodContext = {},
): MethodMatch {
  const choice =
    tables.get(version)?.get(method) ??
    (hints.lenient ? (in1_0.get(method) ?? unversioned.get(method)) : undefined);
  if (!choice) throw refusal(method, version);
  if (choice.ambiguous && hints.path !== undefined && path0_1.test(hints.path)) {
    return in0_1.get(method) ?? choice;
  }
  return choice;
}

function refusal(method: string, version: ProtocolVersion | undefined): NegotiationError {
  if (version === undefined && in1_0.has(method)) {
    return new NegotiationError(
      'VERSION_NOT_SUPPORTED',
      `${method} is a method of A2A 1.0, and no version means 0.3: send the header A2A-Version: 1.0`,
      v1_0,
      { details: { method, supported: supportedVersions.join(', ') } },
    );
  }
  const dialect = dialectForVersion(version);
  return new NegotiationError('METHOD_NOT_FOUND', `A2A ${dialect.version} has no such method`, dialect);
}

/**
 * Chooses the dialect of a REST path: `/v1/…` is 0.3 and anything else 1.0, unless the version says otherwise, for
 * a tenant may be called v1.
 *
 * @throws {@link NegotiationError} VERSION_NOT_SUPPORTED for 0.1, which has no REST.
 */
export function dialectForPath(path: string, version: ProtocolVersion | undefined): Dialect {
  switch (version) {
    case '1.0':
      return v1_0;
    case '0.2':
    case '0.3':
      return v0_3_rest;
    case '0.1':
      throw new NegotiationError('VERSION_NOT_SUPPORTED', 'A2A 0.1 has no REST', v1_0, {
        details: { version, supported: '1.0, 0.3, 0.2' },
      });
    case undefined:
      return path === '/v1' || path.startsWith('/v1/') ? v0_3_rest : v1_0;
  }
}
