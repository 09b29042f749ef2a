/** Returns true if content of the media type is text in UTF-8. */
export function isTextMediaType(mediaType: string): boolean {
  return /^text\/|^application\/(?:[\w.+-]*\+)?(?:json|xml|yaml|javascript)\b/i.test(mediaType);
}
