import { type ArtifactUri, artifactScheme, readArtifactUri } from './artifact-uri.ts';

/** A URI that stands in a text. */
export interface FoundUri {
  /** As it stands there. */
  readonly text: string;
  readonly uri: ArtifactUri;
}

/** What a URI ends at: white space, quotes, brackets. */
const mention = /artifact:\/\/[^\s"'`<>()[\]{}|\\^“”‘’«»]+/gi;
/** What ends a sentence is not part of the URI before it. */
const punctuation = /[.,;:!?…。、]+$/u;

/**
 * Finds the `artifact://` URIs in a text. What only looks like one is left out.
 *
 * @param limit - how many at most
 */
export function findArtifactUris(text: string, limit = Number.POSITIVE_INFINITY): FoundUri[] {
  const found: FoundUri[] = [];
  // Most texts have none, and this says so quickest.
  if (!text.toLowerCase().includes(artifactScheme)) return found;
  for (const [match] of text.matchAll(mention)) {
    if (found.length >= limit) break;
    const stripped = match.replace(punctuation, '');
    const uri = readArtifactUri(stripped);
    if (uri) found.push({ text: stripped, uri });
  }
  return found;
}
