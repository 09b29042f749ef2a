import type { Diagnostic } from '../../../documents/diagnostic.ts';
import type { Document } from '../../../documents/document.ts';
import { AttachmentError, readAttachment } from '../../script/read-attachment.ts';
import { parseDataPath } from '../../script/templates/data-path.ts';
import { openScript } from '../../script/script.ts';
import { DocumentError } from '../../../documents/diagnostic.ts';
import { regexError } from '../files/regex-error.ts';
import {
  type Conversation,
  type ConversationStep,
  conversationSchema,
  kindOf,
  type StepFile,
  stepKeys,
  stepKinds,
  type StepKind,
} from './conversation-schema.ts';
import { isBuiltInVariable, variablesIn } from './step-variables.ts';

/** Maximum size of a file of a message. */
const maxFileBytes = 16 * 1_024 * 1_024;

type Path = readonly (string | number)[];
type Report = (path: Path, message: string) => void;

/** A conversation with the lines of its steps. */
export interface ReadConversation {
  readonly conversation: Conversation;
  readonly line: number;
  readonly stepLines: readonly number[];
}

/** Returns true for a document with conversations instead of cases of Solace Agent Mesh. */
export function isConversationFile(value: unknown): boolean {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'object' && first !== null && ('scenario' in first || 'steps' in first);
}

/**
 * Reads the conversations of a file.
 *
 * @param folder - folder of files that messages contain.
 * @throws DocumentError with all diagnostics.
 */
export function readConversations(document: Document, folder: string | undefined): ReadConversation[] {
  const isList = Array.isArray(document.value);
  const conversations = isList
    ? document.check(conversationSchema.array().min(1))
    : [document.check(conversationSchema)];
  const diagnostics: Diagnostic[] = [];
  const read = conversations.map((conversation, index): ReadConversation => {
    const at: Path = isList ? [index] : [];
    const report: Report = (path, message) =>
      diagnostics.push(document.diagnostic([...at, ...path], message));
    checkConversation(conversation, report);
    return {
      conversation: withFiles(conversation, folder, report),
      line: document.locate([...at, 'scenario']).line,
      stepLines: conversation.steps.map((_step, i) => document.locate([...at, 'steps', i]).line),
    };
  });
  if (diagnostics.length > 0) throw new DocumentError(document.file, diagnostics);
  return read;
}

function checkConversation({ steps, script, headers }: Conversation, report: Report): void {
  if (script) checkScript(script, report);
  for (const name of variablesIn(headers))
    if (!name.startsWith('env.')) report(['headers'], `has the variable ${name}; use env.${name}`);
  const known = new Set<string>();
  for (const [index, step] of steps.entries()) {
    const at = (path: Path, message: string): void => report(['steps', index, ...path], message);
    checkKeys(step, at);
    checkExpressions(step, at);
    const isFirst = index === 0;
    for (const [key, value] of Object.entries(step))
      for (const name of variablesIn(value)) {
        const isBuiltIn = isBuiltInVariable(name) && (!isFirst || key === 'expect');
        if (!known.has(name) && !isBuiltIn && !name.startsWith('env.'))
          at([key], `has the unknown variable ${name}; ${describeKnown(known)}`);
      }
    const reference = step.get ?? step.cancel ?? step.subscribe;
    if (isFirst && reference === 'current') at([kindOf(step)], 'needs a task: no step is before this one');
    for (const name of Object.keys(step.save ?? {})) known.add(name);
  }
}

function describeKnown(known: ReadonlySet<string>): string {
  return known.size === 0 ? 'no step before saves one' : `saved before: ${[...known].join(', ')}`;
}

function checkKeys(step: ConversationStep, report: Report): void {
  const kinds = stepKinds.filter((kind) => step[kind] !== undefined);
  const [kind, other] = kinds;
  const hasContent = step.data !== undefined || step.files !== undefined;
  if (kind === undefined) {
    if (!hasContent) report([], `must have one of ${stepKinds.join(', ')}`);
    else checkKindKeys('say', step, report);
    return;
  }
  if (other !== undefined) report([other], `cannot be used together with ${kind}`);
  else checkKindKeys(kind, step, report);
}

function checkKindKeys(kind: StepKind, step: ConversationStep, report: Report): void {
  for (const key of Object.keys(step) as (keyof ConversationStep)[]) {
    if (key === kind || key === 'expect' || key === 'save' || step[key] === undefined) continue;
    if (!stepKeys[kind].includes(key)) report([key], `cannot be used with ${kind}`);
  }
  if (step.immediate && step.stream !== false) report(['immediate'], 'needs stream: false');
  if (step.until !== undefined && step.stream === false) report(['until'], 'needs a stream');
  if (step.expect?.events && (kind === 'get' || kind === 'cancel' || step.stream === false))
    report(['expect', 'events'], 'needs a stream');
}

/** Reports invalid regular expressions and paths. */
function checkExpressions(step: ConversationStep, report: Report): void {
  const visit = (value: unknown, path: Path): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, each] of Object.entries(value)) {
      const inner = [...path, Array.isArray(value) ? Number(key) : key];
      if (key === 'matches' && typeof each === 'string') checkExpression(each, inner, report);
      else visit(each, inner);
    }
  };
  visit(step.expect, ['expect']);
  visit(step.save, ['save']);
  for (const [name, value] of Object.entries(step.save ?? {})) {
    const path = typeof value === 'string' ? value : (value.from ?? 'text');
    if (!parseDataPath(path)) report(['save', name], `has the invalid path "${path}"`);
  }
}

function checkExpression(source: string, path: Path, report: Report): void {
  const message = regexError(source);
  if (message !== undefined) report(path, message);
}

function checkScript(script: object, report: Report): void {
  try {
    openScript(JSON.stringify(script), 'script');
  } catch (thrown) {
    if (!(thrown instanceof DocumentError)) throw thrown;
    for (const { path, message } of thrown.diagnostics)
      report(['script'], path === '' ? message : `${path}: ${message}`);
  }
}

/** Replaces the paths of files by their content. */
function withFiles(conversation: Conversation, folder: string | undefined, report: Report): Conversation {
  const steps = conversation.steps.map((step, index) => {
    if (!step.files) return step;
    const files = step.files.map((file, i) =>
      withContent(file, folder, (path, message) => report(['steps', index, 'files', i, ...path], message)),
    );
    return { ...step, files };
  });
  return { ...conversation, steps };
}

function withContent(file: StepFile, folder: string | undefined, report: Report): StepFile {
  const contents = (['text', 'base64', 'path', 'url'] as const).filter((key) => file[key] !== undefined);
  if (contents.length !== 1) {
    report([], 'must have exactly one of text, base64, path and url');
    return file;
  }
  const { path, ...rest } = file;
  if (path === undefined) return file;
  try {
    const base64 = readAttachment(folder, path, maxFileBytes);
    return { name: path.slice(path.lastIndexOf('/') + 1), ...rest, base64 };
  } catch (thrown) {
    if (!(thrown instanceof AttachmentError)) throw thrown;
    report(['path'], thrown.message.replaceAll('script', 'scenario'));
    return file;
  }
}
