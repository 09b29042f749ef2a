import { type GrpcStatusName, grpcStatusNames } from '../../wire/grpc/grpc-status.ts';
import {
  type GrpcMutation,
  type MutantAgent,
  type MutantSetup,
  mutant,
  type WireMutation,
  type WireRequest,
  type WireResponse,
} from './mutant-agent.ts';
import { wireJsonResponse } from './wire-responses.ts';

/** Both versions of gRPC. */
export const bothVersions = { versions: ['1.0', '0.3'], transports: ['GRPC'] } as const;
/** gRPC of 1.0. */
export const only1_0 = { versions: ['1.0'], transports: ['GRPC'] } as const;

/** Creates a mutant that changes calls of both versions. */
export function grpcMutant(id: string, description: string, grpc: GrpcMutation): MutantAgent {
  return mutant(id, description, { ...bothVersions, wire: () => ({ grpc }) });
}

/** Creates a mutant that answers some calls with an error. */
export function replyMutant(
  id: string,
  description: string,
  status: GrpcStatusName,
  matches: (request: WireRequest, body: Buffer) => boolean,
  setup: MutantSetup = bothVersions,
): MutantAgent {
  const code = grpcStatusNames.indexOf(status);
  const response: WireResponse = wireJsonResponse(200, { error: { code, status, message: 'no' } });
  const grpc: GrpcMutation = { reply: (...call) => (matches(...call) ? response : undefined) };
  return mutant(id, description, { ...setup, wire: () => ({ grpc }) });
}

/** Creates a mutant that changes the status of calls that lack credentials or a permission. */
export function authMutant(
  id: string,
  description: string,
  change: (trailers: Record<string, string>, request: WireRequest) => Record<string, string>,
): MutantAgent {
  const grpc: GrpcMutation = {
    trailers: (trailers, request) =>
      trailers['grpc-status'] === '16' || trailers['grpc-status'] === '7'
        ? change(trailers, request)
        : trailers,
  };
  return mutant(id, description, { ...only1_0, requiresAuthentication: true, wire: () => ({ grpc }) });
}

/** Creates a mutant of 1.0 that changes the JSON of responses. */
export function jsonMutant(
  id: string,
  description: string,
  wire: WireMutation,
  setup: MutantSetup = only1_0,
): MutantAgent {
  return mutant(id, description, { ...setup, wire: () => wire });
}
