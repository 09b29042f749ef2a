import {
  anySchema,
  anyObjectSchema,
  type SchemaError,
  booleanSchema,
  listSchema,
  type SchemaMember,
  objectSchema,
  enumSchema,
  type Schema,
  textSchema,
  shortValue,
} from '../../invariants/schema.ts';
import { isJsonObject, type JsonObject } from '../../../primitives/json.ts';
import { asList, asText } from '../../drivers/normalized-views.ts';

const word = (tag: string): Schema => textSchema(tag, { mayBeEmpty: false });
const must = (tag: string, schema: Schema): SchemaMember => ({ schema, required: tag });
const may = (schema: Schema): SchemaMember => ({ schema });

/** An absolute address. */
function address(tag: string): Schema {
  return (value, at, flaws) => {
    if (typeof value !== 'string' || !/^https?:$/.test(URL.canParse(value) ? new URL(value).protocol : ''))
      flaws.push({ tag, message: `${at} is ${shortValue(value)}, which is no absolute http(s) address` });
  };
}

/** An object whose values all have one schema. */
function each(tag: string, schema: Schema): Schema {
  return (value, at, flaws) => {
    if (!isJsonObject(value))
      flaws.push({ tag, message: `${at} must be an object by name, not ${shortValue(value)}` });
    else for (const [name, inner] of Object.entries(value)) schema(inner, `${at}.${name}`, flaws);
  };
}

/** Exactly one of some members. */
function one(tag: string, members: Readonly<Record<string, Schema>>): Schema {
  return (value, at, flaws) => {
    if (!isJsonObject(value)) {
      flaws.push({ tag, message: `${at} must be an object, not ${shortValue(value)}` });
      return;
    }
    const there = Object.keys(members).filter((name) => value[name] !== undefined && value[name] !== null);
    if (there.length !== 1)
      flaws.push({
        tag,
        message: `${at} has ${there.join(' and ') || 'none'} of ${Object.keys(members).join(', ')}; it must have one`,
      });
    for (const name of there) members[name]?.(value[name], `${at}.${name}`, flaws);
  };
}

const scopes = each('flows', textSchema('flows'));
const flowUrl = address('flows');
const flows = one('flows', {
  authorizationCode: objectSchema('flows', {
    authorizationUrl: must('flows', flowUrl),
    tokenUrl: must('flows', flowUrl),
    refreshUrl: may(flowUrl),
    scopes: must('flows', scopes),
    pkceRequired: may(booleanSchema('flows')),
  }),
  clientCredentials: objectSchema('flows', {
    tokenUrl: must('flows', flowUrl),
    refreshUrl: may(flowUrl),
    scopes: must('flows', scopes),
  }),
  implicit: objectSchema('flows', {
    authorizationUrl: may(flowUrl),
    refreshUrl: may(flowUrl),
    scopes: may(scopes),
  }),
  password: objectSchema('flows', { tokenUrl: may(flowUrl), refreshUrl: may(flowUrl), scopes: may(scopes) }),
  deviceCode: objectSchema('flows', {
    deviceAuthorizationUrl: must('flows', flowUrl),
    tokenUrl: must('flows', flowUrl),
    refreshUrl: may(flowUrl),
    scopes: must('flows', scopes),
  }),
});

const described = { description: may(textSchema('schemes')) };
const scheme = one('schemes', {
  apiKeySecurityScheme: objectSchema('schemes', {
    ...described,
    location: must('schemes', enumSchema('schemes', ['query', 'header', 'cookie'])),
    name: must('schemes', word('schemes')),
  }),
  httpAuthSecurityScheme: objectSchema('schemes', {
    ...described,
    scheme: must('schemes', word('schemes')),
    bearerFormat: may(textSchema('schemes')),
  }),
  oauth2SecurityScheme: objectSchema('schemes', {
    ...described,
    flows: must('schemes', flows),
    oauth2MetadataUrl: may(address('flows')),
  }),
  openIdConnectSecurityScheme: objectSchema('schemes', {
    ...described,
    openIdConnectUrl: must('schemes', address('schemes')),
  }),
  mtlsSecurityScheme: objectSchema('schemes', described),
});

const requirement = objectSchema('requirements', {
  schemes: must(
    'requirements',
    each(
      'requirements',
      objectSchema('requirements', { list: may(listSchema('requirements', textSchema('requirements'))) }),
    ),
  ),
});

/** A media type, or a pattern of some. */
const mediaType: Schema = (value, at, flaws) => {
  textSchema('members')(value, at, flaws);
  if (typeof value === 'string' && !/^[\w.+*-]+\/[\w.+*-]+(\s*;.*)?$/.test(value))
    flaws.push({ tag: 'modes', message: `${at} is ${shortValue(value)}, which is no media type` });
};
const modes = listSchema('members', mediaType, { min: 1, minTag: 'empty' });

const skill = objectSchema(
  'skills',
  {
    id: must('skills', word('skills')),
    name: must('skills', word('skills')),
    description: must('skills', textSchema('skills')),
    tags: must('skills', listSchema('skills', textSchema('skills'), { min: 1, minTag: 'empty' })),
    examples: may(listSchema('skills', textSchema('skills'))),
    inputModes: may(listSchema('skills', mediaType)),
    outputModes: may(listSchema('skills', mediaType)),
    securityRequirements: may(listSchema('requirements', requirement)),
  },
  'camel',
);

const interfaceMembers = objectSchema(
  'interfaces',
  {
    url: must('interfaces', word('interfaces')),
    protocolBinding: must('interfaces', word('interfaces')),
    protocolVersion: must('interfaces', word('interfaces')),
    tenant: may(textSchema('interfaces')),
  },
  'camel',
);

const bindings = ['JSONRPC', 'HTTP+JSON', 'GRPC'];

const anInterface: Schema = (value, at, flaws) => {
  interfaceMembers(value, at, flaws);
  if (!isJsonObject(value)) return;
  const { url, protocolBinding: binding, protocolVersion: version } = value;
  // The address of gRPC may be a host and a port.
  if (typeof url === 'string' && url !== '' && binding !== 'GRPC')
    address('interfaces')(url, `${at}.url`, flaws);
  if (typeof version === 'string' && !/^\d+\.\d+$/.test(version))
    flaws.push({
      tag: /^\d+\.\d+\.\d+/.test(version) ? 'patch' : 'interfaces',
      message: `${at}.protocolVersion is ${shortValue(version)}; it is written such as 1.0`,
    });
  const meant = bindings.find(
    (each) => typeof binding === 'string' && plain(each) === plain(binding) && each !== binding,
  );
  if (meant)
    flaws.push({
      tag: 'binding',
      message: `${at}.protocolBinding is ${shortValue(binding)}; write ${meant}`,
    });
};

/** Without case and punctuation; `REST` and `HTTP` are what people write for `HTTP+JSON`. */
function plain(binding: string): string {
  const letters = binding.toLowerCase().replace(/[^a-z]/g, '');
  return letters === 'rest' || letters === 'http' ? 'httpjson' : letters;
}

const extension = objectSchema('capabilities', {
  uri: must('capabilities', word('capabilities')),
  description: may(textSchema('capabilities')),
  required: may(booleanSchema('capabilities')),
  params: may(anyObjectSchema('capabilities')),
});

const members = objectSchema(
  'members',
  {
    name: must('members', word('members')),
    description: must('members', textSchema('members')),
    version: must('members', word('members')),
    supportedInterfaces: must('members', listSchema('members', anInterface, { min: 1 })),
    capabilities: must(
      'members',
      objectSchema(
        'capabilities',
        {
          streaming: may(booleanSchema('capabilities')),
          pushNotifications: may(booleanSchema('capabilities')),
          extendedAgentCard: may(booleanSchema('capabilities')),
          extensions: may(listSchema('capabilities', extension)),
        },
        'camel',
      ),
    ),
    defaultInputModes: must('members', modes),
    defaultOutputModes: must('members', modes),
    skills: must('members', listSchema('members', skill, { min: 1, minTag: 'empty' })),
    provider: may(
      objectSchema('provider', {
        url: must('provider', address('provider')),
        organization: must('provider', word('provider')),
      }),
    ),
    documentationUrl: may(address('provider')),
    iconUrl: may(textSchema('provider')),
    securitySchemes: may(each('schemes', scheme)),
    securityRequirements: may(listSchema('requirements', requirement)),
    signatures: may(listSchema('members', anySchema)),
  },
  'camel',
);

/** Everything that is wrong with the shape of a card of 1.0. */
export function cardSchemaErrors(card: JsonObject): readonly SchemaError[] {
  const flaws: SchemaError[] = [];
  members(card, 'card', flaws);
  const skills = (asList(card.skills) ?? []).filter(isJsonObject);
  repeated(skills.map(({ id }) => id)).forEach((id) =>
    flaws.push({ tag: 'unique', message: `card.skills has ${shortValue(id)} more than once` }),
  );
  const uris = (isJsonObject(card.capabilities) ? (asList(card.capabilities.extensions) ?? []) : [])
    .filter(isJsonObject)
    .map(({ uri }) => uri);
  repeated(uris).forEach((uri) =>
    flaws.push({
      tag: 'unique',
      message: `card.capabilities.extensions has ${shortValue(uri)} more than once`,
    }),
  );
  const declared = isJsonObject(card.securitySchemes) ? Object.keys(card.securitySchemes) : [];
  for (const [at, requirements] of [
    ['card', card.securityRequirements] as const,
    ...skills.map(({ securityRequirements }, i) => [`card.skills[${i}]`, securityRequirements] as const),
  ])
    for (const needed of (asList(requirements) ?? []).filter(isJsonObject))
      for (const name of isJsonObject(needed.schemes) ? Object.keys(needed.schemes) : [])
        if (!declared.includes(name))
          flaws.push({
            tag: 'requirements',
            message: `${at}.securityRequirements asks for ${shortValue(name)}, which securitySchemes does not declare`,
          });
  return flaws;
}

function repeated(values: readonly unknown[]): unknown[] {
  return [...new Set(values.filter((value, i) => value !== undefined && values.indexOf(value) !== i))];
}

/** Where something in a card looks like a secret. */
export function findSecrets(value: unknown, at = 'card'): string[] {
  if (typeof value === 'string') return looksSecret(value) ? [at] : [];
  if (Array.isArray(value)) return value.flatMap((inner, i) => findSecrets(inner, `${at}[${i}]`));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const here = `${at}.${name}`;
    const isNamed =
      /^(password|passwd|secret|api_?key|(client|access|refresh)_?(secret|token)|private_?key|credentials?|token)$/i.test(
        name,
      );
    return isNamed && (asText(inner) ?? '').length >= 6 ? [here] : findSecrets(inner, here);
  });
}

function looksSecret(value: string): boolean {
  return (
    /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(value) ||
    /\b(AKIA|ASIA)[0-9A-Z]{16}\b/.test(value) ||
    /\bsk-[A-Za-z0-9_-]{16,}/.test(value) ||
    /\bgh[pousr]_[A-Za-z0-9]{30,}/.test(value) ||
    /\b(bearer|basic) +[A-Za-z0-9._~+/-]{12,}=*/i.test(value) ||
    /\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]*/.test(value) ||
    /^[a-z+]+:\/\/[^/\s:@]+:[^/\s@]+@/i.test(value)
  );
}
