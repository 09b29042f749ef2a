import type { ArtifactKey } from './artifact-store.ts';

/** What an `artifact://` URI names. */
export interface ArtifactUri extends ArtifactKey {
  /** The newest when absent. */
  readonly version?: number;
}

/** What every such URI begins with. */
export const artifactScheme = 'artifact://';

/** Writes the URI of a file, or of one version of it. What has a meaning of its own in a URI is percent-encoded. */
export function writeArtifactUri({ app, user, session, filename, version }: ArtifactUri): string {
  const path = [app, user, session, filename].map(encode).join('/');
  return `${artifactScheme}${path}${version === undefined ? '' : `?version=${version}`}`;
}

/**
 * Reads a URI, percent-encoded or not.
 *
 * @returns undefined for what is not the URI of a file: it has an application, a user, a conversation and a name, and
 * nothing else but a version
 */
export function readArtifactUri(uri: string): ArtifactUri | undefined {
  if (uri.slice(0, artifactScheme.length).toLowerCase() !== artifactScheme) return undefined;
  // A name may have a question mark in it when nobody encoded it; the query is what looks like one.
  const [, path = '', query] =
    /^([^#]*?)(?:\?([\w-]+=[^?#]*))?(?:#.*)?$/s.exec(uri.slice(artifactScheme.length)) ?? [];
  const segments = path.split('/').map(decode);
  const [app, user, session, filename] = segments;
  if (segments.length !== 4 || !app || !user || !session || !filename) return undefined;
  const wanted = new URLSearchParams(query).get('version');
  if (wanted === null || wanted === '' || wanted === 'latest') return { app, user, session, filename };
  const version = /^\d{1,15}$/.test(wanted) ? Number(wanted) : undefined;
  return version === undefined ? undefined : { app, user, session, filename, version };
}

/** Encodes a segment, but not what may stand in one, such as the `@` of an address. */
function encode(segment: string): string {
  const wellFormed = Buffer.from(segment).toString();
  return encodeURIComponent(wellFormed).replaceAll(/%(?:40|3A|24|2B|2C|3D|26)/g, decodeURIComponent);
}

/** Decodes a segment; one with a stray percent sign was never encoded. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
