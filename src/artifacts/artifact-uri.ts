import type { ArtifactKey } from './artifact-store.ts';

/** Parsed `artifact://app/user/session/filename?version=0` URI. */
export interface ArtifactUri extends ArtifactKey {
  /** Undefined for the newest version. */
  readonly version?: number;
}

/** Scheme of artifact URIs. */
export const artifactScheme = 'artifact://';

/** Formats the URI of a file or of one version of it. Reserved characters are percent-encoded. */
export function writeArtifactUri({ app, user, session, filename, version }: ArtifactUri): string {
  const path = [app, user, session, filename].map(encode).join('/');
  return `${artifactScheme}${path}${version === undefined ? '' : `?version=${version}`}`;
}

/**
 * Parses a URI, percent-encoded or not.
 *
 * @returns undefined unless the URI has exactly application, user, session and filename, and optionally a version
 */
export function readArtifactUri(uri: string): ArtifactUri | undefined {
  if (uri.slice(0, artifactScheme.length).toLowerCase() !== artifactScheme) return undefined;
  // An unencoded filename may contain a question mark, so only `?name=value` at the end is a query.
  const [, path = '', query] =
    /^([^#]*?)(?:\?([\w-]+=[^?#]*))?(?:#.*)?$/s.exec(uri.slice(artifactScheme.length)) ?? [];
  const segments = path.split('/').map(decode);
  const [app, user, session, filename] = segments;
  if (segments.length !== 4 || !app || !user || !session || !filename) return undefined;
  const versionText = new URLSearchParams(query).get('version');
  if (versionText === null || versionText === '' || versionText === 'latest')
    return { app, user, session, filename };
  const version = /^\d{1,15}$/.test(versionText) ? Number(versionText) : undefined;
  return version === undefined ? undefined : { app, user, session, filename, version };
}

/** Encodes a segment, except characters that are allowed in one, such as `@`. */
function encode(segment: string): string {
  const wellFormed = Buffer.from(segment).toString();
  return encodeURIComponent(wellFormed).replaceAll(/%(?:40|3A|24|2B|2C|3D|26)/g, decodeURIComponent);
}

/** Decodes a segment. Returns it unchanged if it is not validly encoded. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
