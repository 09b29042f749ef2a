/** Options of gRPC. Times are in milliseconds. */
export interface GrpcOptions {
  /** Time without a byte of the client after which the server sends a ping; 0 for never. @defaultValue 30,000 */
  keepAliveInterval?: number;
  /** Time after which a connection is closed whose client does not respond to a ping. @defaultValue 20,000 */
  keepAliveTimeout?: number;
  /** Time after which a connection without calls is closed; 0 for never. @defaultValue 300,000 */
  idleTimeout?: number;
  /** Maximum number of concurrent calls on one connection. @defaultValue 1,000 */
  callsPerConnection?: number;
  /** Describes services and messages to tools (server reflection). @defaultValue true */
  reflection?: boolean;
}

/** Resolved {@link GrpcOptions}. */
export type GrpcSettings = Required<GrpcOptions>;

/** Default values of {@link GrpcOptions}. */
export const defaultGrpc: GrpcSettings = {
  keepAliveInterval: 30_000,
  keepAliveTimeout: 20_000,
  idleTimeout: 300_000,
  callsPerConnection: 1_000,
  reflection: true,
};

/** Resolves the option `grpc` of a server. @returns undefined if gRPC is disabled */
export function resolveGrpc(option: boolean | GrpcOptions = isGrpcDefault()): GrpcSettings | undefined {
  if (option === false) return undefined;
  return option === true ? defaultGrpc : { ...defaultGrpc, ...option };
}

function isGrpcDefault(): boolean {
  return !/^(?:0|false)$/i.test(process.env.DRAGOMAN_GRPC ?? '');
}
