import { buildMessageTypes } from '../../../dialects/protobuf/message-type.ts';

/** States of a service. */
export type ServingStatus = 'SERVING' | 'NOT_SERVING' | 'SERVICE_UNKNOWN';

/** Messages of the package `grpc.health.v1`. */
export const healthMessages = buildMessageTypes(
  {
    HealthCheckRequest: { service: '1 string' },
    HealthCheckResponse: { status: '1 HealthCheckResponse.ServingStatus' },
  },
  { 'HealthCheckResponse.ServingStatus': ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'] },
);
