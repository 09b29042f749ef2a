import type { AgentDefinition } from '../../../src/engine/agent-definition.ts';

/** The sample agent at a URL. */
export interface ServedAgent {
  readonly url: string;
  stop(): Promise<void>;
}

/** What clients of interop tests reach. */
export interface InteropTarget {
  readonly name: string;
  /** False if gRPC does not reach it. */
  readonly hasGrpc: boolean;
  /** Serves the sample agent, with changes of its definition. */
  serve(more?: Partial<AgentDefinition>): Promise<ServedAgent>;
}

/** Returns the bindings of a client that reach a target. */
export function supportedBindings<T extends { readonly transport: string }>(
  { hasGrpc }: InteropTarget,
  bindings: readonly T[],
): readonly T[] {
  return bindings.filter(({ transport }) => hasGrpc || transport !== 'GRPC');
}
