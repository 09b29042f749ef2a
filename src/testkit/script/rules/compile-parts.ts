import type { Path } from '../../../documents/schema-issues.ts';
import type { Message } from '../../../protocol/message.ts';
import type { Part } from '../../../protocol/part.ts';
import type { Artifact } from '../../../protocol/task.ts';
import { type ArtifactForm, contentsOf, type PartForm, type Speech } from '../schema/action-schema.ts';
import { type Compiling, type Making, objectMaker, textMaker, valueMaker } from '../compile-context.ts';

/** Reads what an agent says. @returns undefined when it says nothing. */
export function speechMaker(speech: Speech, path: Path, compiling: Compiling): Making<Message> | undefined {
  if (speech === null) return undefined;
  const parts = Array.isArray(speech)
    ? partsMaker(speech, path, compiling)
    : partsMaker([speech], path, compiling, () => path);
  // The id is made when it is played.
  return (scope) => ({ messageId: '', role: 'agent', parts: parts(scope) });
}

/** Reads parts. */
export function partsMaker(
  forms: readonly (string | PartForm)[],
  path: Path,
  compiling: Compiling,
  pathOf: (index: number) => Path = (index) => [...path, index],
): Making<Part[]> {
  const makers = forms.map((form, index) => partMaker(form, pathOf(index), compiling));
  return (scope) => makers.map((make) => make(scope));
}

/** Reads an artifact; where it has no id, `idOf` gives it one. */
export function artifactMaker(
  form: ArtifactForm,
  path: Path,
  compiling: Compiling,
  idOf: Making<string>,
): Making<Artifact> {
  const { id, name, description, parts: several, metadata, ...content } = form;
  if (several && contentsOf(content).length > 0)
    compiling.complain(path, 'has either parts or one content of its own, not both');
  const labels = labelsMaker({ name, description }, path, compiling);
  const parts = several
    ? partsMaker(several, [...path, 'parts'], compiling)
    : partsMaker([{ ...content, name }], path, compiling, () => path);
  const makeId = id === undefined ? idOf : textMaker(id, [...path, 'id'], compiling);
  const makeMetadata = metadata && objectMaker(metadata, [...path, 'metadata'], compiling);
  return (scope) => ({
    artifactId: makeId(scope),
    ...labels(scope),
    parts: parts(scope),
    ...(makeMetadata && { metadata: makeMetadata(scope) }),
  });
}

function partMaker(form: string | PartForm, path: Path, compiling: Compiling): Making<Part> {
  if (typeof form === 'string') {
    const text = textMaker(form, path, compiling);
    return (scope) => ({ text: text(scope) });
  }
  const content = contentMaker(form, path, compiling);
  const filename = form.name === undefined ? undefined : textMaker(form.name, [...path, 'name'], compiling);
  const mediaType =
    form.media_type === undefined
      ? undefined
      : textMaker(form.media_type, [...path, 'media_type'], compiling);
  const metadata = form.metadata && objectMaker(form.metadata, [...path, 'metadata'], compiling);
  return (scope) => ({
    ...content(scope),
    ...(filename && { filename: filename(scope) }),
    ...(mediaType && { mediaType: mediaType(scope) }),
    ...(metadata && { metadata: metadata(scope) }),
  });
}

function contentMaker(form: PartForm, path: Path, compiling: Compiling): Making<Part> {
  const [kind, ...more] = contentsOf(form);
  if (kind === undefined || more.length > 0) {
    compiling.complain(path, 'has to have exactly one of text, data, url, base64 and file');
    return () => ({ text: '' });
  }
  const at = [...path, kind];
  if (kind === 'data') {
    const data = valueMaker(form.data, at, compiling);
    return (scope) => ({ data: data(scope) ?? null });
  }
  const written = form[kind] ?? '';
  if (kind === 'file') {
    const raw = compiling.attach(written, at);
    return () => ({ raw });
  }
  const text = textMaker(written, at, compiling);
  if (kind === 'text') return (scope) => ({ text: text(scope) });
  if (kind === 'url') return (scope) => ({ url: text(scope) });
  if (!written.includes('{{') && !isBase64(written)) compiling.complain(at, 'is no base64');
  return (scope) => {
    const raw = text(scope);
    return { raw: isBase64(raw) ? raw : '' };
  };
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}

function labelsMaker(
  labels: { readonly name?: string; readonly description?: string },
  path: Path,
  compiling: Compiling,
): Making<{ name?: string; description?: string }> {
  const makers = Object.entries(labels).flatMap(([key, text]) =>
    text === undefined ? [] : [[key, textMaker(text, [...path, key], compiling)] as const],
  );
  return (scope) => Object.fromEntries(makers.map(([key, make]) => [key, make(scope)]));
}
