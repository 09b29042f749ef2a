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

const nonEmptyText = (tag: string): Schema => textSchema(tag, { mayBeEmpty: false });
const must = (tag: string, schema: Schema): SchemaMember => ({ schema, required: tag });
const may = (schema: Schema): SchemaMember => ({ schema });

function urlSchema(tag: string): Schema {
  return (value, at, errors) => {
    if (typeof value !== 'string' || !/^https?:$/.test(URL.canParse(value) ? new URL(value).protocol : ''))
      errors.push({ tag, message: `${at} is ${shortValue(value)}, which is not an absolute http(s) URL` });
  };
}

/** Schema of an object with arbitrary keys, whose values have one schema. */
function mapSchema(tag: string, schema: Schema): Schema {
  return (value, at, errors) => {
    if (!isJsonObject(value)) errors.push({ tag, message: `${at} must be a map, not ${shortValue(value)}` });
    else for (const [name, inner] of Object.entries(value)) schema(inner, `${at}.${name}`, errors);
  };
}

/** Schema of an object with exactly one of the members. */
function oneOfSchema(tag: string, members: Readonly<Record<string, Schema>>): Schema {
  return (value, at, errors) => {
    if (!isJsonObject(value)) {
      errors.push({ tag, message: `${at} must be an object, not ${shortValue(value)}` });
      return;
    }
    const present = Object.keys(members).filter((name) => value[name] !== undefined && value[name] !== null);
    if (present.length !== 1)
      errors.push({
        tag,
        message: `${at} has ${present.join(' and ') || 'none'} of ${Object.keys(members).join(', ')}; it must have one`,
      });
    for (const name of present) members[name]?.(value[name], `${at}.${name}`, errors);
  };
}

const scopes = mapSchema('flows', textSchema('flows'));
const flowUrl = urlSchema('flows');
const flows = oneOfSchema('flows', {
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

const descriptionMember = { description: may(textSchema('schemes')) };
const scheme = oneOfSchema('schemes', {
  apiKeySecurityScheme: objectSchema('schemes', {
    ...descriptionMember,
    location: must('schemes', enumSchema('schemes', ['query', 'header', 'cookie'])),
    name: must('schemes', nonEmptyText('schemes')),
  }),
  httpAuthSecurityScheme: objectSchema('schemes', {
    ...descriptionMember,
    scheme: must('schemes', nonEmptyText('schemes')),
    bearerFormat: may(textSchema('schemes')),
  }),
  oauth2SecurityScheme: objectSchema('schemes', {
    ...descriptionMember,
    flows: must('schemes', flows),
    oauth2MetadataUrl: may(urlSchema('flows')),
  }),
  openIdConnectSecurityScheme: objectSchema('schemes', {
    ...descriptionMember,
    openIdConnectUrl: must('schemes', urlSchema('schemes')),
  }),
  mtlsSecurityScheme: objectSchema('schemes', descriptionMember),
});

const requirement = objectSchema('requirements', {
  schemes: must(
    'requirements',
    mapSchema(
      'requirements',
      objectSchema('requirements', { list: may(listSchema('requirements', textSchema('requirements'))) }),
    ),
  ),
});

/** A media type, or a pattern such as text/*. */
const mediaType: Schema = (value, at, errors) => {
  textSchema('members')(value, at, errors);
  if (typeof value === 'string' && !/^[\w.+*-]+\/[\w.+*-]+(\s*;.*)?$/.test(value))
    errors.push({ tag: 'modes', message: `${at} is ${shortValue(value)}, which is not a media type` });
};
const modes = listSchema('members', mediaType, { min: 1, minTag: 'empty' });

const skill = objectSchema(
  'skills',
  {
    id: must('skills', nonEmptyText('skills')),
    name: must('skills', nonEmptyText('skills')),
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
    url: must('interfaces', nonEmptyText('interfaces')),
    protocolBinding: must('interfaces', nonEmptyText('interfaces')),
    protocolVersion: must('interfaces', nonEmptyText('interfaces')),
    tenant: may(textSchema('interfaces')),
  },
  'camel',
);

const standardBindings = ['JSONRPC', 'HTTP+JSON', 'GRPC'];

const interfaceSchema: Schema = (value, at, errors) => {
  interfaceMembers(value, at, errors);
  if (!isJsonObject(value)) return;
  const { url, protocolBinding: binding, protocolVersion: version } = value;
  // A gRPC url may be a host and a port.
  if (typeof url === 'string' && url !== '' && binding !== 'GRPC')
    urlSchema('interfaces')(url, `${at}.url`, errors);
  if (typeof version === 'string' && !/^\d+\.\d+$/.test(version))
    errors.push({
      tag: /^\d+\.\d+\.\d+/.test(version) ? 'patch' : 'interfaces',
      message: `${at}.protocolVersion is ${shortValue(version)}; use the form 1.0`,
    });
  const intended = standardBindings.find(
    (each) =>
      typeof binding === 'string' && normalizeBinding(each) === normalizeBinding(binding) && each !== binding,
  );
  if (intended)
    errors.push({
      tag: 'binding',
      message: `${at}.protocolBinding is ${shortValue(binding)}; use ${intended}`,
    });
};

/** Ignores case and punctuation; `REST` and `HTTP` are common misspellings of `HTTP+JSON`. */
function normalizeBinding(binding: string): string {
  const letters = binding.toLowerCase().replace(/[^a-z]/g, '');
  return letters === 'rest' || letters === 'http' ? 'httpjson' : letters;
}

const extension = objectSchema('capabilities', {
  uri: must('capabilities', nonEmptyText('capabilities')),
  description: may(textSchema('capabilities')),
  required: may(booleanSchema('capabilities')),
  params: may(anyObjectSchema('capabilities')),
});

const members = objectSchema(
  'members',
  {
    name: must('members', nonEmptyText('members')),
    description: must('members', textSchema('members')),
    version: must('members', nonEmptyText('members')),
    supportedInterfaces: must('members', listSchema('members', interfaceSchema, { min: 1 })),
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
        url: must('provider', urlSchema('provider')),
        organization: must('provider', nonEmptyText('provider')),
      }),
    ),
    documentationUrl: may(urlSchema('provider')),
    iconUrl: may(textSchema('provider')),
    securitySchemes: may(mapSchema('schemes', scheme)),
    securityRequirements: may(listSchema('requirements', requirement)),
    signatures: may(listSchema('members', anySchema)),
  },
  'camel',
);

/** Returns all schema errors of a 1.0 card. */
export function cardSchemaErrors(card: JsonObject): readonly SchemaError[] {
  const errors: SchemaError[] = [];
  members(card, 'card', errors);
  const skills = (asList(card.skills) ?? []).filter(isJsonObject);
  findDuplicates(skills.map(({ id }) => id)).forEach((id) =>
    errors.push({ tag: 'unique', message: `card.skills contains ${shortValue(id)} more than once` }),
  );
  const uris = (isJsonObject(card.capabilities) ? (asList(card.capabilities.extensions) ?? []) : [])
    .filter(isJsonObject)
    .map(({ uri }) => uri);
  findDuplicates(uris).forEach((uri) =>
    errors.push({
      tag: 'unique',
      message: `card.capabilities.extensions contains ${shortValue(uri)} more than once`,
    }),
  );
  const declared = isJsonObject(card.securitySchemes) ? Object.keys(card.securitySchemes) : [];
  for (const [at, requirements] of [
    ['card', card.securityRequirements] as const,
    ...skills.map(({ securityRequirements }, i) => [`card.skills[${i}]`, securityRequirements] as const),
  ])
    for (const entry of (asList(requirements) ?? []).filter(isJsonObject))
      for (const name of isJsonObject(entry.schemes) ? Object.keys(entry.schemes) : [])
        if (!declared.includes(name))
          errors.push({
            tag: 'requirements',
            message: `${at}.securityRequirements contains ${shortValue(name)}, which securitySchemes does not declare`,
          });
  return errors;
}

function findDuplicates(values: readonly unknown[]): unknown[] {
  return [...new Set(values.filter((value, i) => value !== undefined && values.indexOf(value) !== i))];
}

/** Returns the paths of values that look like secrets. */
export function findSecrets(value: unknown, at = 'card'): string[] {
  if (typeof value === 'string') return isSecretLike(value) ? [at] : [];
  if (Array.isArray(value)) return value.flatMap((inner, i) => findSecrets(inner, `${at}[${i}]`));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const path = `${at}.${name}`;
    const isSecretName =
      /^(password|passwd|secret|api_?key|(client|access|refresh)_?(secret|token)|private_?key|credentials?|token)$/i.test(
        name,
      );
    return isSecretName && (asText(inner) ?? '').length >= 6 ? [path] : findSecrets(inner, path);
  });
}

function isSecretLike(value: string): boolean {
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
