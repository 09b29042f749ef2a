import { bytesOf, type Part } from '../../../../src/protocol/part.ts';

/** Presentation of a part. */
export type PartDisplay =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'csv'; readonly text: string }
  | { readonly kind: 'json'; readonly value: unknown; readonly text?: string }
  | { readonly kind: 'image'; readonly bytes: Uint8Array; readonly mediaType: string }
  | { readonly kind: 'link'; readonly url: string }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array };

const images = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
  'image/bmp',
  'image/svg+xml',
]);
/** Larger texts are not parsed as JSON. */
const maxLookedInto = 2_000_000;

const essence = (mediaType: string | undefined): string =>
  (mediaType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';

const endsIn = (part: Part, ...endings: string[]): boolean =>
  endings.some((ending) => part.filename?.toLowerCase().endsWith(ending) === true);

function jsonOf(text: string): { value: unknown } | undefined {
  if (text.length > maxLookedInto) return undefined;
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

function formOfText(part: Part, text: string): PartDisplay {
  const type = essence(part.mediaType);
  if (type === 'text/csv' || type === 'text/tab-separated-values' || endsIn(part, '.csv', '.tsv')) {
    return { kind: 'csv', text };
  }
  if (type === 'application/json' || type.endsWith('+json') || endsIn(part, '.json')) {
    const json = jsonOf(text);
    if (json) return { kind: 'json', value: json.value, text };
  }
  return { kind: 'text', text };
}

const isTextual = (part: Part): boolean => {
  const type = essence(part.mediaType);
  return (
    type.startsWith('text/') ||
    /^application\/(?:.+\+)?(?:json|xml|yaml|x-yaml|javascript|toml)$/.test(type) ||
    (type === '' && endsIn(part, '.txt', '.csv', '.tsv', '.json', '.md', '.xml', '.yaml', '.yml', '.log'))
  );
};

/** Selects the presentation of a part. Only known image types are shown as images. */
export function choosePartDisplay(part: Part): PartDisplay {
  if ('text' in part) return formOfText(part, part.text);
  if ('data' in part) return { kind: 'json', value: part.data };
  if ('url' in part) return { kind: 'link', url: part.url };
  let bytes: Uint8Array;
  try {
    bytes = bytesOf(part);
  } catch {
    return { kind: 'text', text: '(invalid base64)' };
  }
  const type = essence(part.mediaType);
  if (images.has(type)) return { kind: 'image', bytes, mediaType: type };
  if (isTextual(part)) return formOfText(part, new TextDecoder().decode(bytes));
  return { kind: 'bytes', bytes };
}

/** The bytes of a part, for download; undefined for a link. */
export function partBlob(part: Part): Blob | undefined {
  if ('url' in part) return undefined;
  // Downloads use a neutral type, so that the browser does not execute the content.
  const type = { type: 'application/octet-stream' };
  if ('text' in part) return new Blob([part.text], type);
  try {
    // Data may be too deep to serialize.
    if ('data' in part) return new Blob([JSON.stringify(part.data, null, 2)], type);
    return new Blob([bytesOf(part) as Uint8Array<ArrayBuffer>], type);
  } catch {
    return undefined;
  }
}

const endings: { readonly [mediaType: string]: string } = {
  'text/csv': '.csv',
  'application/json': '.json',
  'image/png': '.png',
  'image/jpeg': '.jpg',
  'image/svg+xml': '.svg',
  'application/pdf': '.pdf',
  'text/markdown': '.md',
  'text/html': '.html',
};

/** The file name of a downloaded part. */
export function partFileName(part: Part, otherwise: string): string {
  if (part.filename) return part.filename;
  if (/\.\w{1,8}$/.test(otherwise)) return otherwise;
  return (
    otherwise +
    (endings[essence(part.mediaType)] ?? ('data' in part ? '.json' : 'text' in part ? '.txt' : '.bin'))
  );
}

/** Joins consecutive text parts, such as the chunks of a stream. */
export function joinTexts(parts: readonly Part[]): Part[] {
  const joined: Part[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (
      last &&
      'text' in last &&
      'text' in part &&
      (part.mediaType === undefined || part.mediaType === last.mediaType) &&
      (part.filename === undefined || part.filename === last.filename)
    ) {
      joined[joined.length - 1] = { ...last, text: last.text + part.text };
    } else joined.push(part);
  }
  return joined;
}
