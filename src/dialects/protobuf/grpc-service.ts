import type { Operation } from '../../protocol/agent.ts';
import type { ProtocolVersion } from '../../protocol/card.ts';
import type { Dialect } from '../dialect.ts';
import { grpcRequests } from '../v0_3_rest/grpc-requests.ts';
import { v0_3_rest } from '../v0_3_rest/index.ts';
import { v1_0 } from '../v1_0/index.ts';
import { v1_1 } from '../v1_1/index.ts';
import { encodeFrameText } from './encode-message.ts';
import { frameText } from './length-prefix.ts';
import type { MessageType } from './message-type.ts';
import { messages0_3 } from './messages-0_3.ts';
import { messages1_0 } from './messages-1_0.ts';
import { messages1_1 } from '../v1_1/protobuf-messages.ts';

/** A method of the service of one version. */
export interface GrpcMethod {
  readonly name: string;
  readonly operation: Operation;
  readonly request: MessageType;
  readonly response: MessageType;
}

/** The service `A2AService` of one version. */
export interface GrpcService {
  /** Its full name. */
  readonly name: string;
  /** Path of its methods, with a slash at the end. */
  readonly path: string;
  readonly methods: readonly GrpcMethod[];
  /** Codec whose serialized results and events are frames. */
  readonly dialect: Dialect;
}

type MethodTable = readonly (readonly [
  name: string,
  operation: Operation,
  request: MessageType,
  response: MessageType,
])[];

const m03 = messages0_3;

/** Returns the methods of 1.0. */
const methods1_0 = (m: { readonly [name in keyof typeof messages1_0]: MessageType }): MethodTable => [
  ['SendMessage', 'send', m.SendMessageRequest, m.SendMessageResponse],
  ['SendStreamingMessage', 'stream', m.SendMessageRequest, m.StreamResponse],
  ['GetTask', 'getTask', m.GetTaskRequest, m.Task],
  ['ListTasks', 'listTasks', m.ListTasksRequest, m.ListTasksResponse],
  ['CancelTask', 'cancelTask', m.CancelTaskRequest, m.Task],
  ['SubscribeToTask', 'subscribe', m.SubscribeToTaskRequest, m.StreamResponse],
  [
    'CreateTaskPushNotificationConfig',
    'createPushConfig',
    m.TaskPushNotificationConfig,
    m.TaskPushNotificationConfig,
  ],
  [
    'GetTaskPushNotificationConfig',
    'getPushConfig',
    m.GetTaskPushNotificationConfigRequest,
    m.TaskPushNotificationConfig,
  ],
  [
    'ListTaskPushNotificationConfigs',
    'listPushConfigs',
    m.ListTaskPushNotificationConfigsRequest,
    m.ListTaskPushNotificationConfigsResponse,
  ],
  [
    'DeleteTaskPushNotificationConfig',
    'deletePushConfig',
    m.DeleteTaskPushNotificationConfigRequest,
    m.Empty,
  ],
  ['GetExtendedAgentCard', 'extendedCard', m.GetExtendedAgentCardRequest, m.AgentCard],
];

/** The service of 1.0. */
const grpcService1_0 = defineService('lf.a2a.v1', v1_0, methods1_0(messages1_0));

/** The service of 1.0 with the fields that 1.1 adds. */
const grpcService1_1 = defineService('lf.a2a.v1', v1_1, methods1_0(messages1_1));

/** The service of 0.3 and 0.2. */
const grpcService0_3 = defineService('a2a.v1', { ...v0_3_rest, requests: grpcRequests }, [
  ['SendMessage', 'send', m03.SendMessageRequest, m03.SendMessageResponse],
  ['SendStreamingMessage', 'stream', m03.SendMessageRequest, m03.StreamResponse],
  ['GetTask', 'getTask', m03.GetTaskRequest, m03.Task],
  ['CancelTask', 'cancelTask', m03.CancelTaskRequest, m03.Task],
  ['TaskSubscription', 'subscribe', m03.TaskSubscriptionRequest, m03.StreamResponse],
  [
    'CreateTaskPushNotificationConfig',
    'createPushConfig',
    m03.CreateTaskPushNotificationConfigRequest,
    m03.TaskPushNotificationConfig,
  ],
  [
    'GetTaskPushNotificationConfig',
    'getPushConfig',
    m03.GetTaskPushNotificationConfigRequest,
    m03.TaskPushNotificationConfig,
  ],
  [
    'ListTaskPushNotificationConfig',
    'listPushConfigs',
    m03.ListTaskPushNotificationConfigRequest,
    m03.ListTaskPushNotificationConfigResponse,
  ],
  [
    'DeleteTaskPushNotificationConfig',
    'deletePushConfig',
    m03.DeleteTaskPushNotificationConfigRequest,
    m03.Empty,
  ],
  ['GetAgentCard', 'extendedCard', m03.GetAgentCardRequest, m03.AgentCard],
]);

/** Finds the method of a path such as `/lf.a2a.v1.A2AService/GetTask`. @param preview - whether 1.1 is previewed */
export function findGrpcMethod(
  path: string,
  preview?: '1.1',
): { service: GrpcService; method: GrpcMethod } | undefined {
  return (preview && previewedMethods.get(path)) ?? methodsByPath.get(path);
}

/** Returns the service of a version; undefined for versions without gRPC. */
export function grpcServiceOf(version: ProtocolVersion): GrpcService | undefined {
  if (version === '1.0') return grpcService1_0;
  return version === '0.1' ? undefined : grpcService0_3;
}

/** The services of all versions. */
export const grpcServices: readonly GrpcService[] = [grpcService1_0, grpcService0_3];

const methodsByPath = methodTable(grpcServices);
const previewedMethods = methodTable([grpcService1_1]);

function methodTable(services: readonly GrpcService[]) {
  return new Map(
    services.flatMap((service) =>
      service.methods.map((method) => [service.path + method.name, { service, method }] as const),
    ),
  );
}

function defineService(packageName: string, base: Dialect, table: MethodTable): GrpcService {
  const methods = table.map(([name, operation, request, response]) => ({
    name,
    operation,
    request,
    response,
  }));
  const responses = new Map(methods.map(({ operation, response }) => [operation, response]));
  const frame = (type: MessageType | undefined, wire: unknown): string =>
    type ? encodeFrameText(type, wire) : frameText(new Uint8Array());
  // Events of both streaming operations have the same type.
  const eventType = responses.get('stream');
  return {
    name: `${packageName}.A2AService`,
    path: `/${packageName}.A2AService/`,
    methods,
    dialect: {
      ...base,
      texts: undefined,
      serialize: {
        result: (operation, wire) => frame(responses.get(operation), wire),
        event: (wire) => frame(eventType, wire),
      },
    },
  };
}
