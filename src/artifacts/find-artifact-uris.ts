import { type ArtifactUri, artifactScheme, readArtifactUri } from './artifact-uri.ts';
import { stripTrailing } from '../primitives/text.ts';

/** An artifact URI found in a text. */
export interface FoundUri {
  /** The URI as written in the text. */
  readonly text: string;
  readonly uri: ArtifactUri;
}

/** A URI ends at white space, quotes and brackets. */
const mention = /artifact:\/\/[^\s"'`<>()[\]{}|\\^“”‘’«»]+/gi;
/** Punctuation at the end of a sentence is not part of the URI. */
const punctuation = '.,;:!?…。、';

/**
 * Finds the valid `artifact://` URIs in a text.
 *
 * @param limit - maximum number of URIs
 */
export function findArtifactUris(text: string, limit = Number.POSITIVE_INFINITY): FoundUri[] {
  const found: FoundUri[] = [];
  // Fast path: most texts contain no URI.
  if (!text.toLowerCase().includes(artifactScheme)) return found;
  for (const [match] of text.matchAll(mention)) {
    if (found.length >= limit) break;
    const stripped = stripTrailing(match, punctuation);
    const uri = readArtifactUri(stripped);
    if (uri) found.push({ text: stripped, uri });
  }
  return found;
}
