import type { DriverOperation } from '../protocol-driver.ts';
import { type MessageSchema, parseMessageSchema } from '../../wire/grpc/message-schema.ts';

/** A method: its name, and the types of its messages. */
export interface ServiceMethod {
  readonly name: string;
  readonly request: string;
  readonly response: string;
  readonly isStreaming: boolean;
}

/** The service of one version. */
export interface ServiceSchema {
  /** Such as `/lf.a2a.v1.A2AService/`. */
  readonly path: string;
  readonly schema: MessageSchema;
  readonly methods: { readonly [operation in DriverOperation]?: ServiceMethod };
}

const unchangedMessages = `
Task: id 1 string, contextId 2 string, status 3 TaskStatus, artifacts 4 Artifact[], history 5 Message[], metadata 6 Struct
TaskStatus: state 1 TaskState, message 2 Message, timestamp 3 Timestamp
TaskArtifactUpdateEvent: taskId 1 string, contextId 2 string, artifact 3 Artifact, append 4 bool, lastChunk 5 bool, metadata 6 Struct
SendMessageResponse: task 1 Task, message 2 Message
StreamResponse: task 1 Task, message 2 Message, statusUpdate 3 TaskStatusUpdateEvent, artifactUpdate 4 TaskArtifactUpdateEvent
AgentProvider: url 1 string, organization 2 string
AgentExtension: uri 1 string, description 2 string, required 3 bool, params 4 Struct
AgentCardSignature: protected 1 string, signature 2 string, header 3 Struct
StringList: list 1 string[]
SecurityScheme: apiKeySecurityScheme 1 APIKeySecurityScheme, httpAuthSecurityScheme 2 HTTPAuthSecurityScheme, oauth2SecurityScheme 3 OAuth2SecurityScheme, openIdConnectSecurityScheme 4 OpenIdConnectSecurityScheme, mtlsSecurityScheme 5 MutualTlsSecurityScheme
APIKeySecurityScheme: description 1 string, location 2 string, name 3 string
HTTPAuthSecurityScheme: description 1 string, scheme 2 string, bearerFormat 3 string
OAuth2SecurityScheme: description 1 string, flows 2 OAuthFlows, oauth2MetadataUrl 3 string
OpenIdConnectSecurityScheme: description 1 string, openIdConnectUrl 2 string
MutualTlsSecurityScheme: description 1 string
ClientCredentialsOAuthFlow: tokenUrl 1 string, refreshUrl 2 string, scopes 3 string{}!
ImplicitOAuthFlow: authorizationUrl 1 string, refreshUrl 2 string, scopes 3 string{}!
PasswordOAuthFlow: tokenUrl 1 string, refreshUrl 2 string, scopes 3 string{}!
Empty:`;

const states = {
  1: 'TASK_STATE_SUBMITTED',
  2: 'TASK_STATE_WORKING',
  3: 'TASK_STATE_COMPLETED',
  4: 'TASK_STATE_FAILED',
  5: 'TASK_STATE_CANCELED',
  6: 'TASK_STATE_INPUT_REQUIRED',
  7: 'TASK_STATE_REJECTED',
  8: 'TASK_STATE_AUTH_REQUIRED',
} as const;
const roles = { 1: 'ROLE_USER', 2: 'ROLE_AGENT' } as const;

const schema1_0 = parseMessageSchema(
  `${unchangedMessages}
SendMessageConfiguration: acceptedOutputModes 1 string[], taskPushNotificationConfig 2 TaskPushNotificationConfig, historyLength 3 int32, returnImmediately 4 bool
Part: text 1 string, raw 2 bytes, url 3 string, data 4 Value, metadata 5 Struct, filename 6 string, mediaType 7 string
Message: messageId 1 string, contextId 2 string, taskId 3 string, role 4 Role, parts 5 Part[]!, metadata 6 Struct, extensions 7 string[], referenceTaskIds 8 string[]
Artifact: artifactId 1 string, name 2 string, description 3 string, parts 4 Part[]!, metadata 5 Struct, extensions 6 string[]
TaskStatusUpdateEvent: taskId 1 string, contextId 2 string, status 3 TaskStatus, metadata 4 Struct
AuthenticationInfo: scheme 1 string, credentials 2 string
AgentInterface: url 1 string, protocolBinding 2 string, tenant 3 string, protocolVersion 4 string
AgentCard: name 1 string, description 2 string!, supportedInterfaces 3 AgentInterface[]!, provider 4 AgentProvider, version 5 string, documentationUrl 6 string, capabilities 7 AgentCapabilities, securitySchemes 8 SecurityScheme{}, securityRequirements 9 SecurityRequirement[], defaultInputModes 10 string[]!, defaultOutputModes 11 string[]!, skills 12 AgentSkill[]!, signatures 13 AgentCardSignature[], iconUrl 14 string
AgentCapabilities: streaming 1 bool, pushNotifications 2 bool, extensions 3 AgentExtension[], extendedAgentCard 4 bool
AgentSkill: id 1 string, name 2 string, description 3 string!, tags 4 string[]!, examples 5 string[], inputModes 6 string[], outputModes 7 string[], securityRequirements 8 SecurityRequirement[]
TaskPushNotificationConfig: tenant 1 string, id 2 string, taskId 3 string, url 4 string, token 5 string, authentication 6 AuthenticationInfo
SecurityRequirement: schemes 1 StringList{}!
OAuthFlows: authorizationCode 1 AuthorizationCodeOAuthFlow, clientCredentials 2 ClientCredentialsOAuthFlow, implicit 3 ImplicitOAuthFlow, password 4 PasswordOAuthFlow, deviceCode 5 DeviceCodeOAuthFlow
AuthorizationCodeOAuthFlow: authorizationUrl 1 string, tokenUrl 2 string, refreshUrl 3 string, scopes 4 string{}!, pkceRequired 5 bool
DeviceCodeOAuthFlow: deviceAuthorizationUrl 1 string, tokenUrl 2 string, refreshUrl 3 string, scopes 4 string{}!
SendMessageRequest: tenant 1 string, message 2 Message, configuration 3 SendMessageConfiguration, metadata 4 Struct
GetTaskRequest: tenant 1 string, id 2 string, historyLength 3 int32
ListTasksRequest: tenant 1 string, contextId 2 string, status 3 TaskState, pageSize 4 int32, pageToken 5 string, historyLength 6 int32, statusTimestampAfter 7 Timestamp, includeArtifacts 8 bool
ListTasksResponse: tasks 1 Task[]!, nextPageToken 2 string!, pageSize 3 int32!, totalSize 4 int32!
CancelTaskRequest: tenant 1 string, id 2 string, metadata 3 Struct
PushConfigRequest: tenant 1 string, taskId 2 string, id 3 string
SubscribeToTaskRequest: tenant 1 string, id 2 string
ListPushConfigsRequest: tenant 4 string, taskId 1 string, pageSize 2 int32, pageToken 3 string
ListPushConfigsResponse: configs 1 TaskPushNotificationConfig[], nextPageToken 2 string
GetExtendedAgentCardRequest: tenant 1 string`,
  { TaskState: states, Role: roles },
);

const schema0_3 = parseMessageSchema(
  `${unchangedMessages}
SendMessageConfiguration: acceptedOutputModes 1 string[], pushNotification 2 PushNotificationConfig, historyLength 3 int32, blocking 4 bool
Part: text 1 string, file 2 FilePart, data 3 DataPart, metadata 4 Struct
FilePart: fileWithUri 1 string, fileWithBytes 2 bytes, mimeType 3 string, name 4 string
DataPart: data 1 Struct
Message: messageId 1 string, contextId 2 string, taskId 3 string, role 4 Role, content 5 Part[]!, metadata 6 Struct, extensions 7 string[]
Artifact: artifactId 1 string, name 3 string, description 4 string, parts 5 Part[]!, metadata 6 Struct, extensions 7 string[]
TaskStatusUpdateEvent: taskId 1 string, contextId 2 string, status 3 TaskStatus, final 4 bool, metadata 5 Struct
PushNotificationConfig: id 1 string, url 2 string, token 3 string, authentication 4 AuthenticationInfo
AuthenticationInfo: schemes 1 string[], credentials 2 string
AgentInterface: url 1 string, transport 2 string
AgentCard: protocolVersion 16 string, name 1 string, description 2 string, url 3 string, preferredTransport 14 string, provider 4 AgentProvider, version 5 string, documentationUrl 6 string, capabilities 7 AgentCapabilities, securitySchemes 8 SecurityScheme{}, security 9 Security[], defaultInputModes 10 string[], defaultOutputModes 11 string[], skills 12 AgentSkill[], supportsAuthenticatedExtendedCard 13 bool, additionalInterfaces 15 AgentInterface[], signatures 17 AgentCardSignature[], iconUrl 18 string
AgentCapabilities: streaming 1 bool, pushNotifications 2 bool, extensions 3 AgentExtension[]
AgentSkill: id 1 string, name 2 string, description 3 string, tags 4 string[], examples 5 string[], inputModes 6 string[], outputModes 7 string[], security 8 Security[]
TaskPushNotificationConfig: name 1 string, pushNotificationConfig 2 PushNotificationConfig
Security: schemes 1 StringList{}
OAuthFlows: authorizationCode 1 AuthorizationCodeOAuthFlow, clientCredentials 2 ClientCredentialsOAuthFlow, implicit 3 ImplicitOAuthFlow, password 4 PasswordOAuthFlow
AuthorizationCodeOAuthFlow: authorizationUrl 1 string, tokenUrl 2 string, refreshUrl 3 string, scopes 4 string{}
SendMessageRequest: message 1 Message, configuration 2 SendMessageConfiguration, metadata 3 Struct
GetTaskRequest: name 1 string, historyLength 2 int32
NameRequest: name 1 string
CreatePushConfigRequest: parent 1 string, configId 2 string, config 3 TaskPushNotificationConfig
ListPushConfigsRequest: parent 1 string, pageSize 2 int32, pageToken 3 string
ListPushConfigsResponse: configs 1 TaskPushNotificationConfig[], nextPageToken 2 string`,
  { TaskState: { ...states, 5: 'TASK_STATE_CANCELLED' }, Role: roles },
);

const unary = (name: string, request: string, response: string): ServiceMethod => ({
  name,
  request,
  response,
  isStreaming: false,
});
const streaming = (name: string, request: string): ServiceMethod => ({
  name,
  request,
  response: 'StreamResponse',
  isStreaming: true,
});

/** The service of 1.0. */
export const service1_0: ServiceSchema = {
  path: '/lf.a2a.v1.A2AService/',
  schema: schema1_0,
  methods: {
    send: unary('SendMessage', 'SendMessageRequest', 'SendMessageResponse'),
    stream: streaming('SendStreamingMessage', 'SendMessageRequest'),
    get: unary('GetTask', 'GetTaskRequest', 'Task'),
    list: unary('ListTasks', 'ListTasksRequest', 'ListTasksResponse'),
    cancel: unary('CancelTask', 'CancelTaskRequest', 'Task'),
    subscribe: streaming('SubscribeToTask', 'SubscribeToTaskRequest'),
    createPush: unary(
      'CreateTaskPushNotificationConfig',
      'TaskPushNotificationConfig',
      'TaskPushNotificationConfig',
    ),
    getPush: unary('GetTaskPushNotificationConfig', 'PushConfigRequest', 'TaskPushNotificationConfig'),
    listPush: unary('ListTaskPushNotificationConfigs', 'ListPushConfigsRequest', 'ListPushConfigsResponse'),
    deletePush: unary('DeleteTaskPushNotificationConfig', 'PushConfigRequest', 'Empty'),
    extendedCard: unary('GetExtendedAgentCard', 'GetExtendedAgentCardRequest', 'AgentCard'),
  },
};

/** The service of 0.3 and 0.2. */
export const service0_3: ServiceSchema = {
  path: '/a2a.v1.A2AService/',
  schema: schema0_3,
  methods: {
    send: unary('SendMessage', 'SendMessageRequest', 'SendMessageResponse'),
    stream: streaming('SendStreamingMessage', 'SendMessageRequest'),
    get: unary('GetTask', 'GetTaskRequest', 'Task'),
    cancel: unary('CancelTask', 'NameRequest', 'Task'),
    subscribe: streaming('TaskSubscription', 'NameRequest'),
    createPush: unary(
      'CreateTaskPushNotificationConfig',
      'CreatePushConfigRequest',
      'TaskPushNotificationConfig',
    ),
    getPush: unary('GetTaskPushNotificationConfig', 'NameRequest', 'TaskPushNotificationConfig'),
    listPush: unary('ListTaskPushNotificationConfig', 'ListPushConfigsRequest', 'ListPushConfigsResponse'),
    deletePush: unary('DeleteTaskPushNotificationConfig', 'NameRequest', 'Empty'),
    extendedCard: unary('GetAgentCard', 'Empty', 'AgentCard'),
  },
};
