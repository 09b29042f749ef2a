import {
  anySchema,
  anyObjectSchema,
  type SchemaError,
  booleanSchema,
  listSchema,
  idSchema,
  objectSchema,
  oneOfSchema,
  requiredMember,
  enumSchema,
  type Schema,
  textSchema,
  shortValue,
} from '../../invariants/schemas/schema.ts';
import { isJsonObject, type JsonObject } from '../../../primitives/json.ts';
import { asText, objectOf, objectsOf } from '../../drivers/normalized-views.ts';
import { replaceJsonWebTokens } from '../../../primitives/redaction/json-web-tokens.ts';
import { parseUrl } from '../../../primitives/web/parse-url.ts';

function urlSchema(tag: string): Schema {
  return (value, at, errors) => {
    if (typeof value !== 'string' || !/^https?:$/.test(parseUrl(value)?.protocol ?? ''))
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

const scopes = mapSchema('flows', textSchema('flows'));
const flowUrl = urlSchema('flows');
const flows = oneOfSchema('flows', {
  authorizationCode: objectSchema('flows', {
    authorizationUrl: requiredMember('flows', flowUrl),
    tokenUrl: requiredMember('flows', flowUrl),
    refreshUrl: flowUrl,
    scopes: requiredMember('flows', scopes),
    pkceRequired: booleanSchema('flows'),
  }),
  clientCredentials: objectSchema('flows', {
    tokenUrl: requiredMember('flows', flowUrl),
    refreshUrl: flowUrl,
    scopes: requiredMember('flows', scopes),
  }),
  implicit: objectSchema('flows', { authorizationUrl: flowUrl, refreshUrl: flowUrl, scopes: scopes }),
  password: objectSchema('flows', { tokenUrl: flowUrl, refreshUrl: flowUrl, scopes: scopes }),
  deviceCode: objectSchema('flows', {
    deviceAuthorizationUrl: requiredMember('flows', flowUrl),
    tokenUrl: requiredMember('flows', flowUrl),
    refreshUrl: flowUrl,
    scopes: requiredMember('flows', scopes),
  }),
});

const descriptionMember = { description: textSchema('schemes') };
const scheme = oneOfSchema('schemes', {
  apiKeySecurityScheme: objectSchema('schemes', {
    ...descriptionMember,
    location: requiredMember('schemes', enumSchema('schemes', ['query', 'header', 'cookie'])),
    name: requiredMember('schemes', idSchema('schemes')),
  }),
  httpAuthSecurityScheme: objectSchema('schemes', {
    ...descriptionMember,
    scheme: requiredMember('schemes', idSchema('schemes')),
    bearerFormat: textSchema('schemes'),
  }),
  oauth2SecurityScheme: objectSchema('schemes', {
    ...descriptionMember,
    flows: requiredMember('schemes', flows),
    oauth2MetadataUrl: urlSchema('flows'),
  }),
  openIdConnectSecurityScheme: objectSchema('schemes', {
    ...descriptionMember,
    openIdConnectUrl: requiredMember('schemes', urlSchema('schemes')),
  }),
  mtlsSecurityScheme: objectSchema('schemes', descriptionMember),
});

const requirement = objectSchema('requirements', {
  schemes: requiredMember(
    'requirements',
    mapSchema(
      'requirements',
      objectSchema('requirements', { list: listSchema('requirements', textSchema('requirements')) }),
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
    id: requiredMember('skills', idSchema('skills')),
    name: requiredMember('skills', idSchema('skills')),
    description: requiredMember('skills', textSchema('skills')),
    tags: requiredMember('skills', listSchema('skills', textSchema('skills'), { min: 1, minTag: 'empty' })),
    examples: listSchema('skills', textSchema('skills')),
    inputModes: listSchema('skills', mediaType),
    outputModes: listSchema('skills', mediaType),
    securityRequirements: listSchema('requirements', requirement),
  },
  'camel',
);

const interfaceMembers = objectSchema(
  'interfaces',
  {
    url: requiredMember('interfaces', idSchema('interfaces')),
    protocolBinding: requiredMember('interfaces', idSchema('interfaces')),
    protocolVersion: requiredMember('interfaces', idSchema('interfaces')),
    tenant: textSchema('interfaces'),
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
  uri: requiredMember('capabilities', idSchema('capabilities')),
  description: textSchema('capabilities'),
  required: booleanSchema('capabilities'),
  params: anyObjectSchema('capabilities'),
});

const members = objectSchema(
  'members',
  {
    name: requiredMember('members', idSchema('members')),
    description: requiredMember('members', textSchema('members')),
    version: requiredMember('members', idSchema('members')),
    supportedInterfaces: requiredMember('members', listSchema('members', interfaceSchema, { min: 1 })),
    capabilities: requiredMember(
      'members',
      objectSchema(
        'capabilities',
        {
          streaming: booleanSchema('capabilities'),
          pushNotifications: booleanSchema('capabilities'),
          extendedAgentCard: booleanSchema('capabilities'),
          extensions: listSchema('capabilities', extension),
        },
        'camel',
      ),
    ),
    defaultInputModes: requiredMember('members', modes),
    defaultOutputModes: requiredMember('members', modes),
    skills: requiredMember('members', listSchema('members', skill, { min: 1, minTag: 'empty' })),
    provider: objectSchema('provider', {
      url: requiredMember('provider', urlSchema('provider')),
      organization: requiredMember('provider', idSchema('provider')),
    }),
    documentationUrl: urlSchema('provider'),
    iconUrl: textSchema('provider'),
    securitySchemes: mapSchema('schemes', scheme),
    securityRequirements: listSchema('requirements', requirement),
    signatures: listSchema('members', anySchema),
  },
  'camel',
);

/** Returns all schema errors of a 1.0 card. */
export function cardSchemaErrors(card: JsonObject): readonly SchemaError[] {
  const errors: SchemaError[] = [];
  members(card, 'card', errors);
  const skills = objectsOf(card.skills);
  findDuplicates(skills.map(({ id }) => id)).forEach((id) =>
    errors.push({ tag: 'unique', message: `card.skills contains ${shortValue(id)} more than once` }),
  );
  const uris = objectsOf(objectOf(card.capabilities).extensions).map(({ uri }) => uri);
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
    for (const entry of objectsOf(requirements))
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
    /\bsk-[A-Za-z0-9_-]{16}/.test(value) ||
    /\bgh[pousr]_[A-Za-z0-9]{30}/.test(value) ||
    /\b(bearer|basic) +[A-Za-z0-9._~+/-]{12}/i.test(value) ||
    replaceJsonWebTokens(value, '') !== value ||
    /^[a-z+]+:\/\/[^/\s:@]+:[^/\s@]+@/i.test(value)
  );
}
