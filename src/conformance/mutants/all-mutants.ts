import { pre1_0Mutants } from './protocol/pre-1_0.ts';
import type { MutantAgent } from './harness/mutant-agent.ts';
import { versionMutants } from './protocol/version.ts';
import { extensionMutants } from './protocol/extension.ts';
import { extendedCardMutants } from './card/extended-card.ts';
import { authorizationMutants } from './security/authorization.ts';
import { authMutants } from './security/auth.ts';
import { cancelMutants } from './operations/cancel.ts';
import { cardMutants } from './card/card.ts';
import { cardSignatureMutants } from './card/card-signature.ts';
import { contextMutants } from './operations/context.ts';
import { getMutants } from './operations/get.ts';
import { grpcMutants } from './protocol/grpc.ts';
import { grpc0_3Mutants } from './protocol/grpc-0_3.ts';
import { grpcSharedMutants } from './protocol/grpc-shared.ts';
import { httpMutants } from './protocol/http.ts';
import { listMutants } from './operations/list.ts';
import { responseModeMutants } from './operations/response-mode.ts';
import { modelMutants } from './protocol/model.ts';
import { mutantsOverGrpc } from './over-grpc.ts';
import { outputMutants } from './operations/output.ts';
import { restMutants } from './protocol/rest.ts';
import { rpcMutants } from './protocol/rpc.ts';
import { pushMutants } from './push/push.ts';
import { pushPre1_0Mutants } from './push/push-pre-1_0.ts';
import { rest0_3Mutants } from './protocol/rest-0_3.ts';
import { sendMutants } from './operations/send.ts';
import { stateMutants } from './operations/states.ts';
import { streamMutants } from './operations/stream.ts';
import { skillMutants } from './operations/skills.ts';
import { unreadableCardMutants } from './card/unreadable-card.ts';
import { subscribeMutants } from './operations/subscribe.ts';
import { survivalMutants } from './protocol/survival.ts';
import { taskMutants } from './operations/task.ts';

const declaredMutants: readonly MutantAgent[] = [
  ...modelMutants,
  ...sendMutants,
  ...getMutants,
  ...listMutants,
  ...cancelMutants,
  ...responseModeMutants,
  ...contextMutants,
  ...streamMutants,
  ...subscribeMutants,
  ...taskMutants,
  ...httpMutants,
  ...grpcMutants,
  ...grpc0_3Mutants,
  ...grpcSharedMutants,
  ...pre1_0Mutants,
  ...rpcMutants,
  ...restMutants,
  ...cardMutants,
  ...cardSignatureMutants,
  ...pushMutants,
  ...pushPre1_0Mutants,
  ...rest0_3Mutants,
  ...versionMutants,
  ...extensionMutants,
  ...extendedCardMutants,
  ...authorizationMutants,
  ...authMutants,
  ...outputMutants,
  ...survivalMutants,
  ...skillMutants,
  ...stateMutants,
  ...unreadableCardMutants,
];

/** All mutants of the suite; those of all transports exist over gRPC as well. */
export const allMutants: readonly MutantAgent[] = [...declaredMutants, ...mutantsOverGrpc(declaredMutants)];
