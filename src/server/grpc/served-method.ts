import { findGrpcMethod, type GrpcMethod, type GrpcService } from '../../dialects/protobuf/grpc-service.ts';
import type { AgentHttpHandler } from '../http/agent-http-handler.ts';

/**
 * Finds the method of a path, below the base path of the agent, unless the agent serves another version only.
 *
 * @param isShared - true on a server with several agents: paths without a base path are methods, too.
 */
export function findServedMethod(
  handler: AgentHttpHandler,
  path: string,
  isShared: boolean,
): { service: GrpcService; method: GrpcMethod } | undefined {
  const { onlyVersion, preview } = handler.context;
  const found = findGrpcMethod(handler.localPath(path) ?? (isShared ? path : ''), preview);
  if (found && onlyVersion !== undefined && found.service.dialect.version !== onlyVersion) return undefined;
  return found;
}
