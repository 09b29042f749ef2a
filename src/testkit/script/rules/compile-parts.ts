import type { DocumentPath } from '../../../documents/schema-issues.ts';
import type { Message } from '../../../protocol/message.ts';
import type { Part } from '../../../protocol/part.ts';
import type { Artifact } from '../../../protocol/task.ts';
import {
  type ArtifactSpec,
  partContentKeys,
  type PartSpec,
  type MessageSpec,
} from '../schema/action-schema.ts';
import {
  type CompileContext,
  type ValueFactory,
  compileObject,
  compileText,
  compileValue,
} from '../compile-context.ts';

/** Reads what an agent says. @returns undefined when it says nothing. */
export function compileMessage(
  speech: MessageSpec,
  path: DocumentPath,
  compiling: CompileContext,
): ValueFactory<Message> | undefined {
  if (speech === null) return undefined;
  const parts = Array.isArray(speech)
    ? compileParts(speech, path, compiling)
    : compileParts([speech], path, compiling, () => path);
  // The id is made when it is played.
  return (scope) => ({ messageId: '', role: 'agent', parts: parts(scope) });
}

/** Reads parts. */
export function compileParts(
  forms: readonly (string | PartSpec)[],
  path: DocumentPath,
  compiling: CompileContext,
  pathOf: (index: number) => DocumentPath = (index) => [...path, index],
): ValueFactory<Part[]> {
  const makers = forms.map((form, index) => partMaker(form, pathOf(index), compiling));
  return (scope) => makers.map((make) => make(scope));
}

/** Reads an artifact; where it has no id, `idOf` gives it one. */
export function compileArtifact(
  form: ArtifactSpec,
  path: DocumentPath,
  compiling: CompileContext,
  idOf: ValueFactory<string>,
): ValueFactory<Artifact> {
  const { id, name, description, parts: several, metadata, ...content } = form;
  if (several && partContentKeys(content).length > 0)
    compiling.report(path, 'has either parts or one content of its own, not both');
  const labels = labelsMaker({ name, description }, path, compiling);
  const parts = several
    ? compileParts(several, [...path, 'parts'], compiling)
    : compileParts([{ ...content, name }], path, compiling, () => path);
  const makeId = id === undefined ? idOf : compileText(id, [...path, 'id'], compiling);
  const makeMetadata = metadata && compileObject(metadata, [...path, 'metadata'], compiling);
  return (scope) => ({
    artifactId: makeId(scope),
    ...labels(scope),
    parts: parts(scope),
    ...(makeMetadata && { metadata: makeMetadata(scope) }),
  });
}

function partMaker(
  form: string | PartSpec,
  path: DocumentPath,
  compiling: CompileContext,
): ValueFactory<Part> {
  if (typeof form === 'string') {
    const text = compileText(form, path, compiling);
    return (scope) => ({ text: text(scope) });
  }
  const content = contentMaker(form, path, compiling);
  const filename = form.name === undefined ? undefined : compileText(form.name, [...path, 'name'], compiling);
  const mediaType =
    form.media_type === undefined
      ? undefined
      : compileText(form.media_type, [...path, 'media_type'], compiling);
  const metadata = form.metadata && compileObject(form.metadata, [...path, 'metadata'], compiling);
  return (scope) => ({
    ...content(scope),
    ...(filename && { filename: filename(scope) }),
    ...(mediaType && { mediaType: mediaType(scope) }),
    ...(metadata && { metadata: metadata(scope) }),
  });
}

function contentMaker(form: PartSpec, path: DocumentPath, compiling: CompileContext): ValueFactory<Part> {
  const [kind, ...more] = partContentKeys(form);
  if (kind === undefined || more.length > 0) {
    compiling.report(path, 'has to have exactly one of text, data, url, base64 and file');
    return () => ({ text: '' });
  }
  const at = [...path, kind];
  if (kind === 'data') {
    const data = compileValue(form.data, at, compiling);
    return (scope) => ({ data: data(scope) ?? null });
  }
  const written = form[kind] ?? '';
  if (kind === 'file') {
    const raw = compiling.attach(written, at);
    return () => ({ raw });
  }
  const text = compileText(written, at, compiling);
  if (kind === 'text') return (scope) => ({ text: text(scope) });
  if (kind === 'url') return (scope) => ({ url: text(scope) });
  if (!written.includes('{{') && !isBase64(written)) compiling.report(at, 'is no base64');
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
  path: DocumentPath,
  compiling: CompileContext,
): ValueFactory<{ name?: string; description?: string }> {
  const makers = Object.entries(labels).flatMap(([key, text]) =>
    text === undefined ? [] : [[key, compileText(text, [...path, key], compiling)] as const],
  );
  return (scope) => Object.fromEntries(makers.map(([key, make]) => [key, make(scope)]));
}
