/** Wire formats of each version, implemented independently of the product code. */

export const versions = ['0.1', '0.3', '1.0'] as const;
export type Version = (typeof versions)[number];
/** REST in 0.3 has its own wire format, that of its protocol buffers. */
export type WireVersion = Version | '0.3 REST';

export interface File {
  name: string;
  type: string;
  /** Base64. */
  bytes?: string;
  uri?: string;
}

/** Content of a message or artifact. */
export interface Content {
  text?: string;
  file?: File;
}

/** Writes parts in the format of a version. */
export function buildParts(version: WireVersion, { text, file }: Content): object[] {
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

/** Writes a task state in the format of a version. */
export function formatState(version: WireVersion, state: string): string {
  if (version !== '1.0' && version !== '0.3 REST') return state;
  const name = version === '1.0' ? state : state.replace('canceled', 'cancelled');
  return `TASK_STATE_${name.toUpperCase().replaceAll('-', '_')}`;
}

const normalizeState = (state: string): string =>
  state
    .replace(/^TASK_STATE_/, '')
    .toLowerCase()
    .replace('cancelled', 'canceled')
    .replaceAll('_', '-');

/** All texts, files and states in a JSON value, regardless of their position. */
export interface WireContent {
  texts: string[];
  files: File[];
  states: string[];
}

/** Collects all texts, files and states of a JSON value. @throws if it contains fields of another version. */
export function readContent(
  version: WireVersion,
  body: unknown,
  content: WireContent = { texts: [], files: [], states: [] },
): WireContent {
  if (Array.isArray(body)) {
    for (const each of body) readContent(version, each, content);
    return content;
  }
  if (typeof body !== 'object' || body === null) return content;
  const wire = body as { [key: string]: unknown };
  checkFields(version, wire);
  if (typeof wire.text === 'string') content.texts.push(wire.text);
  if (typeof wire.status_text === 'string') content.texts.push(wire.status_text);
  if (typeof wire.state === 'string') content.states.push(normalizeState(wire.state));
  const bytes = wire.bytes ?? wire.fileWithBytes ?? wire.raw;
  const uri = wire.uri ?? wire.fileWithUri ?? wire.url;
  if (typeof bytes === 'string' || typeof uri === 'string')
    content.files.push({
      name: String(wire.name ?? wire.filename),
      type: String(wire.mimeType ?? wire.mediaType),
      ...(typeof bytes === 'string' ? { bytes } : { uri: String(uri) }),
    });
  // Metadata may contain fields of other versions.
  for (const [key, each] of Object.entries(wire)) if (key !== 'metadata') readContent(version, each, content);
  return content;
}

const kinds = new Set(['text', 'file', 'task', 'message', 'status-update', 'artifact-update']);

/** Fails on fields that a version does not have. */
function checkFields(version: WireVersion, wire: { [key: string]: unknown }): void {
  const isOf0_1 = wire.type === 'text' || wire.type === 'file';
  const isOf0_3 = typeof wire.kind === 'string' && kinds.has(wire.kind);
  const { state, role } = wire;
  const isProto = [state, role].some((each) => typeof each === 'string' && /^(TASK_STATE|ROLE)_/.test(each));
  const foundVersions = [
    isOf0_1 && '0.1',
    isOf0_3 && '0.3',
    ('content' in wire || 'fileWithBytes' in wire) && '0.3 REST',
    ('raw' in wire || 'filename' in wire) && '1.0',
    isProto && (version === '0.3 REST' ? version : '1.0'),
  ];
  for (const each of foundVersions)
    if (each !== false && each !== version)
      throw new Error(`fields of ${each} in ${version}: ${JSON.stringify(wire)}`);
}
