import type { OAuthFlow, SecurityScheme } from '../../protocol/card.ts';
import { invalidField } from '../../protocol/errors.ts';
import { readObject, readString, readOptionalText, type WireObject } from '../field-readers.ts';
import type { DecodeMode } from '../translation-loss.ts';
import { readFlows, readSecurityScheme as readWrapped } from '../v1_0/security.ts';

/** Reads a scheme by its `type`, or by its wrapper key as in the protocol buffers. */
function readSecurityScheme(value: unknown, at: string): SecurityScheme {
  const wire = readObject(value, at);
  if (typeof wire.type !== 'string') return readWrapped(wire, at);
  const scheme = readTyped(wire, wire.type, at);
  const description = readOptionalText(wire.description, `${at}.description`);
  if (description !== undefined) scheme.description = description;
  return scheme;
}

function readTyped(wire: WireObject, type: string, at: string): SecurityScheme {
  switch (type) {
    case 'apiKey':
      return {
        type,
        location: wire.in === 'query' || wire.in === 'cookie' ? wire.in : 'header',
        name: readString(wire.name, `${at}.name`) ?? '',
      };
    case 'http': {
      const scheme: SecurityScheme = { type, scheme: readString(wire.scheme, `${at}.scheme`) ?? '' };
      const bearerFormat = readOptionalText(wire.bearerFormat, `${at}.bearerFormat`);
      if (bearerFormat !== undefined) scheme.bearerFormat = bearerFormat;
      return scheme;
    }
    case 'oauth2': {
      const scheme: SecurityScheme = { type, flows: readFlows(wire.flows ?? {}, `${at}.flows`) };
      const metadataUrl = readOptionalText(wire.oauth2MetadataUrl, `${at}.oauth2MetadataUrl`);
      if (metadataUrl !== undefined) scheme.oauth2MetadataUrl = metadataUrl;
      return scheme;
    }
    case 'openIdConnect':
      return { type, openIdConnectUrl: readString(wire.openIdConnectUrl, `${at}.openIdConnectUrl`) ?? '' };
    case 'mutualTLS':
      return { type };
    default:
      throw invalidField(`${at}.type`, 'must be apiKey, http, oauth2, openIdConnect or mutualTLS');
  }
}

/** Reads all schemes of a card. Lenient mode drops unknown ones. */
export function readSecuritySchemes(value: unknown, mode: DecodeMode): { [name: string]: SecurityScheme } {
  const schemes: { [name: string]: SecurityScheme } = {};
  for (const [name, each] of Object.entries(readObject(value, 'securitySchemes'))) {
    const at = `securitySchemes.${name}`;
    try {
      schemes[name] = readSecurityScheme(each, at);
    } catch (error) {
      if (!mode.lenient) throw error;
      mode.losses?.push({ path: at, kind: 'dropped', note: 'unknown security scheme' });
    }
  }
  return schemes;
}

/**
 * Writes a 0.3 JSON scheme. `deviceCode` and `pkceRequired`, which are newer than 0.3, are additional properties that
 * clients ignore.
 */
export function writeSecurityScheme(scheme: SecurityScheme): unknown {
  switch (scheme.type) {
    case 'apiKey':
      return { type: 'apiKey', in: scheme.location, name: scheme.name, description: scheme.description };
    case 'oauth2':
      return { ...scheme, flows: writeFlows(scheme.flows) };
    default:
      return scheme;
  }
}

/** 0.3 requires the scopes of a flow, even if empty. */
function writeFlows(flows: { [name: string]: OAuthFlow | undefined }): unknown {
  const written: { [name: string]: OAuthFlow } = {};
  for (const [name, flow] of Object.entries(flows)) {
    if (flow !== undefined) written[name] = { ...flow, scopes: flow.scopes ?? {} };
  }
  return written;
}
