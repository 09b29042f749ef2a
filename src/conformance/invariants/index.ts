import type { Invariant } from '../observation/observation.ts';
import { envelopeInvariants } from './envelope.ts';
import { grpcInvariants } from './grpc.ts';
import { httpInvariants } from './http.ts';
import { modelInvariants } from './model-1_0.ts';
import { pushInvariants } from './push.ts';
import { modelPre1_0Invariants } from './model-pre-1_0.ts';
import { streamInvariants } from './stream.ts';
import { taskInvariants } from './tasks.ts';
import { versionInvariants } from './version.ts';

/** All invariants of the suite. */
export const allInvariants: readonly Invariant[] = [
  ...envelopeInvariants,
  ...httpInvariants,
  ...grpcInvariants,
  ...modelInvariants,
  ...modelPre1_0Invariants,
  ...streamInvariants,
  ...pushInvariants,
  ...versionInvariants,
  ...taskInvariants,
];
