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

/** Compiles a message. @returns undefined if it is empty */
export function compileMessage(
  spec: MessageSpec,
  path: DocumentPath,
  context: CompileContext,
): ValueFactory<Message> | undefined {
  if (spec === null) return undefined;
  const parts = Array.isArray(spec)
    ? compileParts(spec, path, context)
    : compileParts([spec], path, context, () => path);
  // The engine assigns the id during playback.
  return (scope) => ({ messageId: '', role: 'agent', parts: parts(scope) });
}

export function compileParts(
  specs: readonly (string | PartSpec)[],
  path: DocumentPath,
  context: CompileContext,
  pathOf: (index: number) => DocumentPath = (index) => [...path, index],
): ValueFactory<Part[]> {
  const factories = specs.map((spec, index) => compilePart(spec, pathOf(index), context));
  return (scope) => factories.map((create) => create(scope));
}

/** Compiles an artifact. @param defaultId - creates the id of an artifact without one */
export function compileArtifact(
  spec: ArtifactSpec,
  path: DocumentPath,
  context: CompileContext,
  defaultId: ValueFactory<string>,
): ValueFactory<Artifact> {
  const { id, name, description, parts: partSpecs, metadata, ...content } = spec;
  if (partSpecs && partContentKeys(content).length > 0)
    context.report(path, 'must have either parts or one content, not both');
  const labels = compileLabels({ name, description }, path, context);
  const parts = partSpecs
    ? compileParts(partSpecs, [...path, 'parts'], context)
    : compileParts([{ ...content, name }], path, context, () => path);
  const createId = id === undefined ? defaultId : compileText(id, [...path, 'id'], context);
  const createMetadata = metadata && compileObject(metadata, [...path, 'metadata'], context);
  return (scope) => ({
    artifactId: createId(scope),
    ...labels(scope),
    parts: parts(scope),
    ...(createMetadata && { metadata: createMetadata(scope) }),
  });
}

function compilePart(
  spec: string | PartSpec,
  path: DocumentPath,
  context: CompileContext,
): ValueFactory<Part> {
  if (typeof spec === 'string') {
    const text = compileText(spec, path, context);
    return (scope) => ({ text: text(scope) });
  }
  const content = compileContent(spec, path, context);
  const filename = spec.name === undefined ? undefined : compileText(spec.name, [...path, 'name'], context);
  const mediaType =
    spec.media_type === undefined
      ? undefined
      : compileText(spec.media_type, [...path, 'media_type'], context);
  const metadata = spec.metadata && compileObject(spec.metadata, [...path, 'metadata'], context);
  return (scope) => ({
    ...content(scope),
    ...(filename && { filename: filename(scope) }),
    ...(mediaType && { mediaType: mediaType(scope) }),
    ...(metadata && { metadata: metadata(scope) }),
  });
}

function compileContent(spec: PartSpec, path: DocumentPath, context: CompileContext): ValueFactory<Part> {
  const [kind, ...more] = partContentKeys(spec);
  if (kind === undefined || more.length > 0) {
    context.report(path, 'must have exactly one of text, data, url, base64 and file');
    return () => ({ text: '' });
  }
  const at = [...path, kind];
  if (kind === 'data') {
    const data = compileValue(spec.data, at, context);
    return (scope) => ({ data: data(scope) ?? null });
  }
  const value = spec[kind] ?? '';
  if (kind === 'file') {
    const raw = context.attach(value, at);
    return () => ({ raw });
  }
  const text = compileText(value, at, context);
  if (kind === 'text') return (scope) => ({ text: text(scope) });
  if (kind === 'url') return (scope) => ({ url: text(scope) });
  if (!value.includes('{{') && !isBase64(value)) context.report(at, 'must be base64');
  return (scope) => {
    const raw = text(scope);
    return { raw: isBase64(raw) ? raw : '' };
  };
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}

function compileLabels(
  labels: { readonly name?: string; readonly description?: string },
  path: DocumentPath,
  context: CompileContext,
): ValueFactory<{ name?: string; description?: string }> {
  const factories = Object.entries(labels).flatMap(([key, text]) =>
    text === undefined ? [] : [[key, compileText(text, [...path, key], context)] as const],
  );
  return (scope) => Object.fromEntries(factories.map(([key, create]) => [key, create(scope)]));
}
