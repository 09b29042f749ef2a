/** The words of each version, written by hand and read by hand: no code of ours is on either side of the matrix. */

export const versions = ['0.1', '0.3', '1.0'] as const;
export type Version = (typeof versions)[number];
/** The REST of 0.3 has words of its own, those of its protocol buffers. */
export type Spoken = Version | '0.3 REST';

/** A file beside words. */
export interface File {
  name: string;
  type: string;
  /** Base64, or where it is. */
  bytes?: string;
  uri?: string;
}

/** What is said: words, and perhaps a file. */
export interface Said {
  text?: string;
  file?: File;
}

/** How a version writes parts. */
export function partsOf(version: Spoken, { text, file }: Said): object[] {
  const parts: object[] = [];
  if (version === '0.3 REST') {
    if (text !== undefined) parts.push({ text });
    if (file) {
      const { name, type: mimeType, bytes, uri } = file;
      const content = bytes === undefined ? { fileWithUri: uri } : { fileWithBytes: bytes };
      parts.push({ file: { name, mimeType, ...content } });
    }
    return parts;
  }
  const tag = version === '0.1' ? 'type' : 'kind';
  if (text !== undefined) parts.push(version === '1.0' ? { text } : { [tag]: 'text', text });
  if (!file) return parts;
  const { name, type, bytes, uri } = file;
  if (version === '1.0') {
    const content = bytes === undefined ? { url: uri } : { raw: bytes };
    parts.push({ ...content, filename: name, mediaType: type });
  } else {
    const content = bytes === undefined ? { uri } : { bytes };
    parts.push({ [tag]: 'file', file: { name, mimeType: type, ...content } });
  }
  return parts;
}

/** How a version writes a state. */
export function stateOf(version: Spoken, state: string): string {
  return version === '1.0' ? `TASK_STATE_${state.toUpperCase().replaceAll('-', '_')}` : state;
}

const plainState = (state: string): string =>
  state
    .replace(/^TASK_STATE_/, '')
    .toLowerCase()
    .replace('cancelled', 'canceled')
    .replaceAll('_', '-');

/** What anything in any version says, looked at without regard to where it says it. */
export interface Heard {
  texts: string[];
  files: File[];
  states: string[];
}

/** Collects all texts, files and states of something. @throws when it is in the words of another version. */
export function hear(
  version: Spoken,
  body: unknown,
  heard: Heard = { texts: [], files: [], states: [] },
): Heard {
  if (Array.isArray(body)) {
    for (const each of body) hear(version, each, heard);
    return heard;
  }
  if (typeof body !== 'object' || body === null) return heard;
  const wire = body as { [key: string]: unknown };
  checkWords(version, wire);
  if (typeof wire.text === 'string') heard.texts.push(wire.text);
  if (typeof wire.status_text === 'string') heard.texts.push(wire.status_text);
  if (typeof wire.state === 'string') heard.states.push(plainState(wire.state));
  const bytes = wire.bytes ?? wire.fileWithBytes ?? wire.raw;
  const uri = wire.uri ?? wire.fileWithUri ?? wire.url;
  if (typeof bytes === 'string' || typeof uri === 'string')
    heard.files.push({
      name: String(wire.name ?? wire.filename),
      type: String(wire.mimeType ?? wire.mediaType),
      ...(typeof bytes === 'string' ? { bytes } : { uri: String(uri) }),
    });
  // What travels in metadata is for those who know it.
  for (const [key, each] of Object.entries(wire)) if (key !== 'metadata') hear(version, each, heard);
  return heard;
}

const kinds = new Set(['text', 'file', 'task', 'message', 'status-update', 'artifact-update']);

/** Fails on words that a version does not have. */
function checkWords(version: Spoken, wire: { [key: string]: unknown }): void {
  const isOf0_1 = wire.type === 'text' || wire.type === 'file';
  const isOf0_3 = typeof wire.kind === 'string' && kinds.has(wire.kind);
  const { state, role } = wire;
  const isProto = [state, role].some((each) => typeof each === 'string' && /^(TASK_STATE|ROLE)_/.test(each));
  const spoken = [
    isOf0_1 && '0.1',
    isOf0_3 && '0.3',
    ('content' in wire || 'fileWithBytes' in wire) && '0.3 REST',
    ('raw' in wire || 'filename' in wire) && '1.0',
    isProto && (version === '0.3 REST' ? version : '1.0'),
  ];
  for (const each of spoken)
    if (each !== false && each !== version)
      throw new Error(`words of ${each} in ${version}: ${JSON.stringify(wire)}`);
}
