import { listRequestMembers, type RequestMember } from '../../../../../src/dialects/http/request-members.ts';
import type { RequestDraft } from './request-draft.ts';

/** Texts that can replace a part of the body. */
export interface Completion {
  /** Offsets of the part that is replaced. */
  readonly from: number;
  readonly to: number;
  readonly suggestions: readonly Suggestion[];
}

/** A name or value that the version defines at a place of the body. */
interface Suggestion {
  readonly label: string;
  /** Type of a member, with its rule. */
  readonly detail: string;
  readonly text: string;
}

/** An object or list around the cursor. */
interface Container {
  readonly isList: boolean;
  /** Names of all members, also of those after the cursor. */
  readonly names: Set<string>;
  /** Name of the current member. */
  name: string | undefined;
  expectsValue: boolean;
}

interface Cursor {
  readonly containers: readonly Container[];
  readonly path: readonly string[];
  readonly isName: boolean;
  /** The text between the quotation mark and the cursor. */
  readonly typed: string;
  readonly from: number;
  readonly to: number;
}

const maxSuggestions = 50;
const envelope = ['jsonrpc', 'id', 'method', 'params'];

/** Suggests member names and values for the string around an offset of the body; undefined if there are none. */
export function completeBody(draft: RequestDraft, offset: number): Completion | undefined {
  const cursor = locateCursor(draft.body, offset);
  if (!cursor) return undefined;
  const { typed, from, to } = cursor;
  const all = cursor.isName ? suggestNames(draft, cursor) : suggestValues(draft, cursor);
  const matching = all.filter(
    ({ label }) => label !== typed && label.toLowerCase().startsWith(typed.toLowerCase()),
  );
  return matching.length === 0 ? undefined : { from, to, suggestions: matching.slice(0, maxSuggestions) };
}

function suggestNames(draft: RequestDraft, { path, containers, to }: Cursor): Suggestion[] {
  const parent = memberPath(draft, path);
  const present = containers.at(-1)?.names;
  const hasColon = /^"?\s*:/.test(draft.body.slice(to));
  const members =
    parent === undefined
      ? path.length === 0
        ? envelope.map((name) => ({ name, detail: '' }))
        : []
      : listRequestMembers(draft).flatMap((each) => {
          const { parent: container, name } = splitPath(each.path);
          return container === parent ? [{ name, detail: describe(each) }] : [];
        });
  const quote = draft.body[to] === '"' ? '' : '"';
  return members
    .filter(({ name }) => present?.has(name) !== true)
    .map(({ name, detail }) => ({
      label: name,
      detail,
      text: hasColon ? name : `${name}${quote}${quote && ': '}`,
    }));
}

function suggestValues(draft: RequestDraft, { path, containers, to }: Cursor): Suggestion[] {
  const name = containers.at(-1)?.name;
  const parent = memberPath(draft, path);
  if (name === undefined || parent === undefined) return [];
  const member = listRequestMembers(draft).find(
    (each) => each.path === (parent === '' ? name : `${parent}.${name}`),
  );
  const quote = draft.body[to] === '"' ? '' : '"';
  return valuesOf(member).map((value) => ({ label: value, detail: '', text: `${value}${quote}` }));
}

/** Reads the values of a rule such as `must be ROLE_USER or ROLE_AGENT`. */
function valuesOf(member: RequestMember | undefined): string[] {
  const [, list] =
    /^must be (?:one of )?([\w-]+(?:(?:, | or |, or | and )[\w-]+)+)$/.exec(member?.rule ?? '') ?? [];
  return member?.type === 'string' ? (list?.split(/, or |, | or | and /) ?? []) : [];
}

/** Returns the path of an object below the parameters; undefined if it is not in them. */
function memberPath({ transport }: RequestDraft, path: readonly string[]): string | undefined {
  if (transport !== 'JSONRPC') return path.join('.');
  return path[0] === 'params' ? path.slice(1).join('.') : undefined;
}

function splitPath(path: string): { parent: string; name: string } {
  const at = path.lastIndexOf('.');
  return { parent: path.slice(0, Math.max(at, 0)), name: path.slice(at + 1) };
}

const describe = ({ type, isRequired }: RequestMember): string => (isRequired ? `${type}, required` : type);

/** Finds the string around an offset of a text that may not be valid JSON yet. */
function locateCursor(text: string, offset: number): Cursor | undefined {
  const stack: Container[] = [];
  let found: Cursor | undefined;
  for (let at = 0; at < text.length; at++) {
    const top = stack.at(-1);
    const letter = text[at];
    if (letter === '{' || letter === '[')
      stack.push({ isList: letter === '[', names: new Set(), name: undefined, expectsValue: letter === '[' });
    else if (letter === '}' || letter === ']') stack.pop();
    else if (top && letter === ':') top.expectsValue = true;
    else if (top && letter === ',') top.expectsValue = top.isList;
    else if (letter === '"') {
      const end = endOfString(text, at + 1);
      const isName = top !== undefined && !top.isList && !top.expectsValue;
      const isHere = offset > at && offset <= end;
      if (isHere)
        found = {
          containers: [...stack],
          path: pathOf(stack),
          isName,
          typed: text.slice(at + 1, offset),
          from: at + 1,
          to: text[end] === '"' ? end : offset,
        };
      else if (isName) {
        top.name = text.slice(at + 1, end);
        top.names.add(top.name);
      }
      at = end;
    }
  }
  return found;
}

/** Returns the offset of the closing quotation mark, or of the end of the line if there is none. */
function endOfString(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"' || text[at] === '\n') return at;
  }
  return text.length;
}

/** Returns the names of the members that lead to the innermost object; `parts[]` for an item of a list. */
function pathOf(stack: readonly Container[]): string[] {
  const path: string[] = [];
  for (const { isList, name } of stack.slice(0, -1)) {
    if (!isList) path.push(name ?? '');
    else path.push(`${path.pop() ?? ''}[]`);
  }
  return path;
}
