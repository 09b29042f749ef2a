/** File extensions by media type. The first media type of an extension is used for the reverse lookup. */
const extensions: readonly (readonly [mediaType: string, extension: string])[] = [
  ['text/plain', 'txt'],
  ['text/csv', 'csv'],
  ['text/html', 'html'],
  ['text/markdown', 'md'],
  ['text/css', 'css'],
  ['text/javascript', 'js'],
  ['application/json', 'json'],
  ['application/pdf', 'pdf'],
  ['application/xml', 'xml'],
  ['text/xml', 'xml'],
  ['application/yaml', 'yaml'],
  ['application/zip', 'zip'],
  ['application/gzip', 'gz'],
  ['image/png', 'png'],
  ['image/jpeg', 'jpg'],
  ['image/gif', 'gif'],
  ['image/webp', 'webp'],
  ['image/svg+xml', 'svg'],
  ['audio/mpeg', 'mp3'],
  ['audio/wav', 'wav'],
  ['video/mp4', 'mp4'],
];

const extensionByType = new Map(extensions);
const typeByExtension = new Map(extensions.toReversed().map(([type, extension]) => [extension, type]));

const defaultMediaType = 'application/octet-stream';

/** Returns the file extension of a media type, without a dot; `bin` if unknown. */
export function extensionFor(mediaType: string | undefined): string {
  const bare = mediaType?.split(';')[0]?.trim().toLowerCase() ?? '';
  return extensionByType.get(bare) ?? 'bin';
}

/** Returns the media type of a file by its extension; `application/octet-stream` if unknown. */
export function mediaTypeFor(filename: string): string {
  return typeByExtension.get(/\.(\w+)$/.exec(filename)?.[1]?.toLowerCase() ?? '') ?? defaultMediaType;
}
