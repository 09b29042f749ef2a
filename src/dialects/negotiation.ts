import type { Operation } from '../protocol/agent.ts';
import type { ProtocolVersion } from '../protocol/card.ts';
import { A2AError, type A2AErrorOptions, type ErrorReason } from '../protocol/errors.ts';
import type { Dialect } from './dialect.ts';
import { v0_1 } from './v0_1/index.ts';
import { v0_3 } from './v0_3/index.ts';
import { v0_3_rest } from './v0_3_rest/index.ts';
import { v1_0 } from './v1_0/index.ts';

export { type CardDialect, dialectForCard } from './card-negotiation.ts';

/** All versions that a client can request, newest first. */
export const supportedVersions: readonly ProtocolVersion[] = ['1.0', '0.3', '0.2', '0.1'];

/** No dialect matches the request. The error response uses {@link NegotiationError.dialect}. */
export class NegotiationError extends A2AError {
  /** Dialect of the error response. */
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
 * Parses the value of `A2A-Version`; a patch number is ignored.
 *
 * @returns undefined if the value is missing or empty
 * @throws {@link NegotiationError} VERSION_NOT_SUPPORTED, with dialect 1.0, which defines the header
 */
export function parseVersionHeader(text: string | undefined): ProtocolVersion | undefined {
  if (text === undefined || text === '') return undefined;
  const version = namedVersions.get(text) ?? namedVersions.get(majorMinor.exec(text)?.[1] ?? '');
  if (version !== undefined) return version;
  if (text.trim() === '') return undefined;
  throw new NegotiationError('VERSION_NOT_SUPPORTED', `Unsupported A2A version: ${text}`, v1_0, {
    details: { version: text, supported: supportedVersions.join(', ') },
  });
}

/** Dialect and operation of a JSON-RPC method. */
export interface MethodMatch {
  readonly dialect: Dialect;
  readonly operation: Operation;
  /**
   * True if 0.1 and 0.3 share the method and no version was named: if the task was created in 0.1, its client expects the
   * response in 0.1.
   */
  readonly ambiguous: boolean;
}

/** Context of {@link dialectForMethod}. */
export interface MethodContext {
  /** Request path; a segment `v0.1` or `0.1` resolves an ambiguous method. */
  readonly path?: string;
  /**
   * Selects the dialect by method name if the version does not define the method.
   * @defaultValue false; as 1.0 requires, a missing version means 0.3
   */
  readonly lenient?: boolean;
}

type MethodTable = ReadonlyMap<string, MethodMatch>;

function createMethodTable(
  dialect: Dialect,
  isAmbiguous: (method: string) => boolean = () => false,
): MethodTable {
  return new Map(
    [...dialect.methods].map(([method, operation]) => [
      method,
      Object.freeze({ dialect, operation, ambiguous: isAmbiguous(method) }),
    ]),
  );
}

const methods0_1 = createMethodTable(v0_1);
const methods0_3 = createMethodTable(v0_3);
const methods1_0 = createMethodTable(v1_0);
/** For requests without a version: methods of both versions belong to 0.3 unless the task was created in 0.1. */
const unversioned: MethodTable = new Map([
  ...methods0_1,
  ...createMethodTable(v0_3, (method) => v0_1.methods.has(method)),
]);

const tables: ReadonlyMap<ProtocolVersion | undefined, MethodTable> = new Map<
  ProtocolVersion | undefined,
  MethodTable
>([
  [undefined, unversioned],
  ['0.1', methods0_1],
  ['0.2', methods0_3],
  ['0.3', methods0_3],
  ['1.0', methods1_0],
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

/** Returns the JSON-RPC dialect of a version; 0.3 without a version. */
export function dialectForVersion(version: ProtocolVersion | undefined): Dialect {
  return dialects.get(version) ?? v0_3;
}

const variants: { readonly [transport: string]: ReadonlyMap<string, Dialect> | undefined } = {
  JSONRPC: new Map([
    ['1.0', v1_0],
    ['0.3', v0_3],
    ['0.2', v0_3],
    ['0.1', v0_1],
  ]),
  'HTTP+JSON': new Map([
    ['1.0', v1_0],
    ['0.3', v0_3_rest],
    ['0.2', v0_3_rest],
  ]),
  // Codecs between ProtoJSON and protocol buffers are loaded with the first call.
  GRPC: new Map([
    ['1.0', v1_0],
    ['0.3', v0_3_rest],
    ['0.2', v0_3_rest],
  ]),
};

/** Returns the dialect of a version over a transport; undefined if there is none. */
export function dialectForVariant(version: string, transport: string): Dialect | undefined {
  return Object.hasOwn(variants, transport) ? variants[transport]?.get(version) : undefined;
}

const path0_1 = /(?:^|\/)v?0\.1(?:\/|$)/;

/**
 * Selects the dialect of a JSON-RPC method.
 *
 * @throws {@link NegotiationError} METHOD_NOT_FOUND, or VERSION_NOT_SUPPORTED for a 1.0 method without the version
 */
export function dialectForMethod(
  method: string,
  version: ProtocolVersion | undefined,
  context: MethodContext = {},
): MethodMatch {
  const match =
    tables.get(version)?.get(method) ??
    (context.lenient ? (methods1_0.get(method) ?? unversioned.get(method)) : undefined);
  if (!match) throw unknownMethod(method, version);
  if (match.ambiguous && context.path !== undefined && path0_1.test(context.path)) {
    return methods0_1.get(method) ?? match;
  }
  return match;
}

function unknownMethod(method: string, version: ProtocolVersion | undefined): NegotiationError {
  if (version === undefined && methods1_0.has(method)) {
    return new NegotiationError(
      'VERSION_NOT_SUPPORTED',
      `${method} requires the header A2A-Version: 1.0; a missing version means 0.3`,
      v1_0,
      { details: { method, supported: supportedVersions.join(', ') } },
    );
  }
  const dialect = dialectForVersion(version);
  return new NegotiationError('METHOD_NOT_FOUND', `Method not found in A2A ${dialect.version}`, dialect);
}

/**
 * Selects the dialect of a REST path. Without a version `/v1/…` is 0.3 and all other paths are 1.0; the version has
 * precedence because a tenant may be named v1.
 *
 * @throws {@link NegotiationError} VERSION_NOT_SUPPORTED for 0.1, which has no REST
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
