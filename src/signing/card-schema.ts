/** Field presence in the protocol buffers of 1.0: always written, written if set, or written if not the default. */
type Presence = 'required' | 'optional' | 'implicit';

/** Type of a field; `free` is arbitrary JSON. */
type Kind = 'text' | 'flag' | 'texts' | 'textMap' | 'free' | 'message' | 'list' | 'map';

/** A field of the 1.0 card. */
export interface CardField {
  readonly presence: Presence;
  readonly kind: Kind;
  /** Schema of the message, or of the messages in the list or map. */
  readonly of?: CardSchema;
}

/** Fields of a message of the 1.0 card. */
export interface CardSchema {
  readonly [name: string]: CardField;
}

const required = (kind: Kind, of?: CardSchema): CardField => ({ presence: 'required', kind, of });
const optional = (kind: Kind): CardField => ({ presence: 'optional', kind });
const implicit = (kind: Kind, of?: CardSchema): CardField => ({ presence: 'implicit', kind, of });

const requirement: CardSchema = { schemes: implicit('map', { list: implicit('texts') }) };

const flows: CardSchema = {
  authorizationCode: implicit('message', {
    authorizationUrl: required('text'),
    tokenUrl: required('text'),
    refreshUrl: implicit('text'),
    scopes: required('textMap'),
    pkceRequired: implicit('flag'),
  }),
  clientCredentials: implicit('message', {
    tokenUrl: required('text'),
    refreshUrl: implicit('text'),
    scopes: required('textMap'),
  }),
  implicit: implicit('message', {
    authorizationUrl: implicit('text'),
    refreshUrl: implicit('text'),
    scopes: implicit('textMap'),
  }),
  password: implicit('message', {
    tokenUrl: implicit('text'),
    refreshUrl: implicit('text'),
    scopes: implicit('textMap'),
  }),
  deviceCode: implicit('message', {
    deviceAuthorizationUrl: required('text'),
    tokenUrl: required('text'),
    refreshUrl: implicit('text'),
    scopes: required('textMap'),
  }),
};

const securityScheme: CardSchema = {
  apiKeySecurityScheme: implicit('message', {
    description: implicit('text'),
    location: required('text'),
    name: required('text'),
  }),
  httpAuthSecurityScheme: implicit('message', {
    description: implicit('text'),
    scheme: required('text'),
    bearerFormat: implicit('text'),
  }),
  oauth2SecurityScheme: implicit('message', {
    description: implicit('text'),
    flows: required('message', flows),
    oauth2MetadataUrl: implicit('text'),
  }),
  openIdConnectSecurityScheme: implicit('message', {
    description: implicit('text'),
    openIdConnectUrl: required('text'),
  }),
  mtlsSecurityScheme: implicit('message', { description: implicit('text') }),
};

/** All fields of the 1.0 card that a signature covers. */
export const cardSchema: CardSchema = {
  name: required('text'),
  description: required('text'),
  supportedInterfaces: required('list', {
    url: required('text'),
    protocolBinding: required('text'),
    tenant: implicit('text'),
    protocolVersion: required('text'),
  }),
  provider: implicit('message', { url: required('text'), organization: required('text') }),
  version: required('text'),
  documentationUrl: optional('text'),
  capabilities: required('message', {
    streaming: optional('flag'),
    pushNotifications: optional('flag'),
    extensions: implicit('list', {
      uri: implicit('text'),
      description: implicit('text'),
      required: implicit('flag'),
      params: implicit('free'),
    }),
    extendedAgentCard: optional('flag'),
  }),
  securitySchemes: implicit('map', securityScheme),
  securityRequirements: implicit('list', requirement),
  defaultInputModes: required('texts'),
  defaultOutputModes: required('texts'),
  skills: required('list', {
    id: required('text'),
    name: required('text'),
    description: required('text'),
    tags: required('texts'),
    examples: implicit('texts'),
    inputModes: implicit('texts'),
    outputModes: implicit('texts'),
    securityRequirements: implicit('list', requirement),
  }),
  iconUrl: optional('text'),
};
