// Reads TSDoc comments.
import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { flat } from './text.mjs';

/** The documentation of a symbol. */
export function docOf(symbol) {
  const documented = (symbol.declarations ?? []).map(docOfNode);
  return documented.find(({ text }) => text !== '') ?? documented[0] ?? docOfNode(undefined);
}

/** The documentation of one declaration, by tag. */
export function docOfNode(node) {
  /** @type {{ text: string, params: { name: string, text: string }[], returns: string, throws: string[], defaultValue: string, examples: string[] }} */
  const doc = { text: '', params: [], returns: '', throws: [], defaultValue: '', examples: [] };
  if (!node) return doc;
  // The comment of a constant belongs to its statement.
  const holder = ts.isVariableDeclaration(node) ? node.parent.parent : node;
  const comment = ts.getJSDocCommentsAndTags(holder).findLast(ts.isJSDoc);
  if (!comment) return doc;
  doc.text = plain(comment.comment);
  for (const tag of comment.tags ?? []) {
    const text = tag.tagName.text === 'throws' ? thrownText(tag) : plain(tag.comment);
    if (ts.isJSDocParameterTag(tag))
      doc.params.push({ name: tag.name.getText(), text: text.replace(/^-\s*/, '') });
    else if (ts.isJSDocReturnTag(tag)) doc.returns = text;
    else if (tag.tagName.text === 'throws') doc.throws.push(text);
    else if (/^default(Value)?$/.test(tag.tagName.text)) doc.defaultValue = text;
    else if (tag.tagName.text === 'example') doc.examples.push(text);
  }
  return doc;
}

/** The source text of a throws tag; the compiler parses `{@link X}` as its type. */
function thrownText(tag) {
  const rest = tag.getSourceFile().text.slice(tag.pos);
  const [, text = ''] = /^@throws\s+([^]*?)(?=\n\s*\*\s*@|\s*\*\/)/.exec(rest) ?? [];
  return text.replaceAll(/\n\s*\*? ?/g, '\n').trim();
}

function plain(comment) {
  return (ts.getTextOfJSDocComment(comment) ?? '').trim();
}

/** The module comment at the top of a file. */
export function moduleText(source) {
  const [comment] = /^\/\*\*[^]*?\*\//.exec(readFileSync(source, 'utf8')) ?? [''];
  if (!comment.includes('@module')) return '';
  const lines = comment.slice(3, -2).split('\n');
  return lines
    .map((line) => line.replace(/^\s*\* ?/, ''))
    .join('\n')
    .replace('@module', '')
    .trim();
}

/** An example, wrapped in a code fence if it has none. */
export function exampleOf(text) {
  return text.includes('```') ? text : `\`\`\`ts\n${text}\n\`\`\``;
}

/** The first sentence of a text. */
export function sentenceOf(text) {
  return /^.*?\.(?=\s|$)/.exec(flat(text))?.[0] ?? flat(text);
}
