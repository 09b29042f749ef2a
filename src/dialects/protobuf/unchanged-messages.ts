/** Messages that are the same in A2A 0.3 and 1.0. */
export const unchangedMessages = {
  Task: {
    id: '1 string',
    contextId: '2 string',
    status: '3 TaskStatus',
    artifacts: '4 Artifact[]',
    history: '5 Message[]',
    metadata: '6 Struct',
  },
  TaskArtifactUpdateEvent: {
    taskId: '1 string',
    contextId: '2 string',
    artifact: '3 Artifact',
    append: '4 bool',
    lastChunk: '5 bool',
    metadata: '6 Struct',
  },
  AgentProvider: { url: '1 string', organization: '2 string' },
  AgentExtension: { uri: '1 string', description: '2 string', required: '3 bool', params: '4 Struct' },
  AgentCardSignature: { protected: '1 string', signature: '2 string', header: '3 Struct' },
  StringList: { list: '1 string[]' },
  SecurityScheme: {
    apiKeySecurityScheme: '1 APIKeySecurityScheme | scheme',
    httpAuthSecurityScheme: '2 HTTPAuthSecurityScheme | scheme',
    oauth2SecurityScheme: '3 OAuth2SecurityScheme | scheme',
    openIdConnectSecurityScheme: '4 OpenIdConnectSecurityScheme | scheme',
    mtlsSecurityScheme: '5 MutualTlsSecurityScheme | scheme',
  },
  APIKeySecurityScheme: { description: '1 string', location: '2 string', name: '3 string' },
  HTTPAuthSecurityScheme: { description: '1 string', scheme: '2 string', bearerFormat: '3 string' },
  OAuth2SecurityScheme: { description: '1 string', flows: '2 OAuthFlows', oauth2MetadataUrl: '3 string' },
  OpenIdConnectSecurityScheme: { description: '1 string', openIdConnectUrl: '2 string' },
  MutualTlsSecurityScheme: { description: '1 string' },
  ClientCredentialsOAuthFlow: { tokenUrl: '1 string', refreshUrl: '2 string', scopes: '3 string{}' },
  ImplicitOAuthFlow: { authorizationUrl: '1 string', refreshUrl: '2 string', scopes: '3 string{}' },
  PasswordOAuthFlow: { tokenUrl: '1 string', refreshUrl: '2 string', scopes: '3 string{}' },
  Empty: {},
} as const;

/** @param canceled - how the version spells the state */
export const enumValues = (canceled: 'CANCELED' | 'CANCELLED') => ({
  Role: ['ROLE_UNSPECIFIED', 'ROLE_USER', 'ROLE_AGENT'],
  TaskState: [
    'UNSPECIFIED',
    'SUBMITTED',
    'WORKING',
    'COMPLETED',
    'FAILED',
    canceled,
    'INPUT_REQUIRED',
    'REJECTED',
    'AUTH_REQUIRED',
  ].map((state) => `TASK_STATE_${state}`),
});
