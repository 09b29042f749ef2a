import {
  anything,
  bag,
  type Flaw,
  flag,
  list,
  type Member,
  object,
  oneOf,
  type Shape,
  text,
  told,
} from '../../invariants/schema.ts';
import { isObject, type Json, listIn, textIn } from '../../drivers/normalized-views.ts';

const word = (tag: string): Shape => text(tag, { mayBeEmpty: false });
const must = (tag: string, shape: Shape): Member => ({ shape, required: tag });
const may = (shape: Shape): Member => ({ shape });

/** An absolute address. */
function address(tag: string): Shape {
  return (value, at, flaws) => {
    if (typeof value !== 'string' || !/^https?:$/.test(URL.canParse(value) ? new URL(value).protocol : ''))
      flaws.push({ tag, message: `${at} is ${told(value)}, which is no absolute http(s) address` });
  };
}

/** An object whose values all have one shape. */
function each(tag: string, shape: Shape): Shape {
  return (value, at, flaws) => {
    if (!isObject(value)) flaws.push({ tag, message: `${at} must be an object by name, not ${told(value)}` });
    else for (const [name, inner] of Object.entries(value)) shape(inner, `${at}.${name}`, flaws);
  };
}

/** Exactly one of some members. */
function one(tag: string, members: Readonly<Record<string, Shape>>): Shape {
  return (value, at, flaws) => {
    if (!isObject(value)) {
      flaws.push({ tag, message: `${at} must be an object, not ${told(value)}` });
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

const scopes = each('flows', text('flows'));
const flowUrl = address('flows');
const flows = one('flows', {
  authorizationCode: object('flows', {
    authorizationUrl: must('flows', flowUrl),
    tokenUrl: must('flows', flowUrl),
    refreshUrl: may(flowUrl),
    scopes: must('flows', scopes),
    pkceRequired: may(flag('flows')),
  }),
  clientCredentials: object('flows', {
    tokenUrl: must('flows', flowUrl),
    refreshUrl: may(flowUrl),
    scopes: must('flows', scopes),
  }),
  implicit: object('flows', {
    authorizationUrl: may(flowUrl),
    refreshUrl: may(flowUrl),
    scopes: may(scopes),
  }),
  password: object('flows', { tokenUrl: may(flowUrl), refreshUrl: may(flowUrl), scopes: may(scopes) }),
  deviceCode: object('flows', {
    deviceAuthorizationUrl: must('flows', flowUrl),
    tokenUrl: must('flows', flowUrl),
    refreshUrl: may(flowUrl),
    scopes: must('flows', scopes),
  }),
});

const described = { description: may(text('schemes')) };
const scheme = one('schemes', {
  apiKeySecurityScheme: object('schemes', {
    ...described,
    location: must('schemes', oneOf('schemes', ['query', 'header', 'cookie'])),
    name: must('schemes', word('schemes')),
  }),
  httpAuthSecurityScheme: object('schemes', {
    ...described,
    scheme: must('schemes', word('schemes')),
    bearerFormat: may(text('schemes')),
  }),
  oauth2SecurityScheme: object('schemes', {
    ...described,
    flows: must('schemes', flows),
    oauth2MetadataUrl: may(address('flows')),
  }),
  openIdConnectSecurityScheme: object('schemes', {
    ...described,
    openIdConnectUrl: must('schemes', address('schemes')),
  }),
  mtlsSecurityScheme: object('schemes', described),
});

const requirement = object('requirements', {
  schemes: must(
    'requirements',
    each('requirements', object('requirements', { list: may(list('requirements', text('requirements'))) })),
  ),
});

/** A media type, or a pattern of some. */
const mediaType: Shape = (value, at, flaws) => {
  text('members')(value, at, flaws);
  if (typeof value === 'string' && !/^[\w.+*-]+\/[\w.+*-]+(\s*;.*)?$/.test(value))
    flaws.push({ tag: 'modes', message: `${at} is ${told(value)}, which is no media type` });
};
const modes = list('members', mediaType, { min: 1, minTag: 'empty' });

const skill = object(
  'skills',
  {
    id: must('skills', word('skills')),
    name: must('skills', word('skills')),
    description: must('skills', text('skills')),
    tags: must('skills', list('skills', text('skills'), { min: 1, minTag: 'empty' })),
    examples: may(list('skills', text('skills'))),
    inputModes: may(list('skills', mediaType)),
    outputModes: may(list('skills', mediaType)),
    securityRequirements: may(list('requirements', requirement)),
  },
  'camel',
);

const interfaceMembers = object(
  'interfaces',
  {
    url: must('interfaces', word('interfaces')),
    protocolBinding: must('interfaces', word('interfaces')),
    protocolVersion: must('interfaces', word('interfaces')),
    tenant: may(text('interfaces')),
  },
  'camel',
);

const bindings = ['JSONRPC', 'HTTP+JSON', 'GRPC'];

const anInterface: Shape = (value, at, flaws) => {
  interfaceMembers(value, at, flaws);
  if (!isObject(value)) return;
  const { url, protocolBinding: binding, protocolVersion: version } = value;
  // The address of gRPC may be a host and a port.
  if (typeof url === 'string' && url !== '' && binding !== 'GRPC')
    address('interfaces')(url, `${at}.url`, flaws);
  if (typeof version === 'string' && !/^\d+\.\d+$/.test(version))
    flaws.push({
      tag: /^\d+\.\d+\.\d+/.test(version) ? 'patch' : 'interfaces',
      message: `${at}.protocolVersion is ${told(version)}; it is written such as 1.0`,
    });
  const meant = bindings.find(
    (each) => typeof binding === 'string' && plain(each) === plain(binding) && each !== binding,
  );
  if (meant)
    flaws.push({ tag: 'binding', message: `${at}.protocolBinding is ${told(binding)}; write ${meant}` });
};

/** Without case and punctuation; `REST` and `HTTP` are what people write for `HTTP+JSON`. */
function plain(binding: string): string {
  const letters = binding.toLowerCase().replace(/[^a-z]/g, '');
  return letters === 'rest' || letters === 'http' ? 'httpjson' : letters;
}

const extension = object('capabilities', {
  uri: must('capabilities', word('capabilities')),
  description: may(text('capabilities')),
  required: may(flag('capabilities')),
  params: may(bag('capabilities')),
});

const members = object(
  'members',
  {
    name: must('members', word('members')),
    description: must('members', text('members')),
    version: must('members', word('members')),
    supportedInterfaces: must('members', list('members', anInterface, { min: 1 })),
    capabilities: must(
      'members',
      object(
        'capabilities',
        {
          streaming: may(flag('capabilities')),
          pushNotifications: may(flag('capabilities')),
          extendedAgentCard: may(flag('capabilities')),
          extensions: may(list('capabilities', extension)),
        },
        'camel',
      ),
    ),
    defaultInputModes: must('members', modes),
    defaultOutputModes: must('members', modes),
    skills: must('members', list('members', skill, { min: 1, minTag: 'empty' })),
    provider: may(
      object('provider', {
        url: must('provider', address('provider')),
        organization: must('provider', word('provider')),
      }),
    ),
    documentationUrl: may(address('provider')),
    iconUrl: may(text('provider')),
    securitySchemes: may(each('schemes', scheme)),
    securityRequirements: may(list('requirements', requirement)),
    signatures: may(list('members', anything)),
  },
  'camel',
);

/** Everything that is wrong with the shape of a card of 1.0. */
export function cardFlaws(card: Json): readonly Flaw[] {
  const flaws: Flaw[] = [];
  members(card, 'card', flaws);
  const skills = (listIn(card.skills) ?? []).filter(isObject);
  repeated(skills.map(({ id }) => id)).forEach((id) =>
    flaws.push({ tag: 'unique', message: `card.skills has ${told(id)} more than once` }),
  );
  const uris = (isObject(card.capabilities) ? (listIn(card.capabilities.extensions) ?? []) : [])
    .filter(isObject)
    .map(({ uri }) => uri);
  repeated(uris).forEach((uri) =>
    flaws.push({ tag: 'unique', message: `card.capabilities.extensions has ${told(uri)} more than once` }),
  );
  const declared = isObject(card.securitySchemes) ? Object.keys(card.securitySchemes) : [];
  for (const [at, requirements] of [
    ['card', card.securityRequirements] as const,
    ...skills.map(({ securityRequirements }, i) => [`card.skills[${i}]`, securityRequirements] as const),
  ])
    for (const needed of (listIn(requirements) ?? []).filter(isObject))
      for (const name of isObject(needed.schemes) ? Object.keys(needed.schemes) : [])
        if (!declared.includes(name))
          flaws.push({
            tag: 'requirements',
            message: `${at}.securityRequirements asks for ${told(name)}, which securitySchemes does not declare`,
          });
  return flaws;
}

function repeated(values: readonly unknown[]): unknown[] {
  return [...new Set(values.filter((value, i) => value !== undefined && values.indexOf(value) !== i))];
}

/** Where something in a card looks like a secret. */
export function secretsIn(value: unknown, at = 'card'): string[] {
  if (typeof value === 'string') return looksSecret(value) ? [at] : [];
  if (Array.isArray(value)) return value.flatMap((inner, i) => secretsIn(inner, `${at}[${i}]`));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const here = `${at}.${name}`;
    const isNamed =
      /^(password|passwd|secret|api_?key|(client|access|refresh)_?(secret|token)|private_?key|credentials?|token)$/i.test(
        name,
      );
    return isNamed && (textIn(inner) ?? '').length >= 6 ? [here] : secretsIn(inner, here);
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
