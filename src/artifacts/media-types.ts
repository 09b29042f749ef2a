/** The extension that files of a media type usually have. The first type of an extension is the one it stands for. */
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

/** What stands for any bytes. */
const anyBytes = 'application/octet-stream';

/** Gives the extension, without a dot, that a file of a media type gets. */
export function extensionFor(mediaType: string | undefined): string {
  const bare = mediaType?.split(';')[0]?.trim().toLowerCase() ?? '';
  return extensionByType.get(bare) ?? 'bin';
}

/** Guesses the media type of a file by its name. */
export function mediaTypeFor(filename: string): string {
  return typeByExtension.get(/\.(\w+)$/.exec(filename)?.[1]?.toLowerCase() ?? '') ?? anyBytes;
}
