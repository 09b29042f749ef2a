/** An element of XML, as a strict reader finds it. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlElement[];
  /** The text that is in it and in nothing else. */
  readonly text: string;
}

/** Characters that no document of XML 1.0 may have, however they are written. */
const forbidden = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

const entities: { readonly [name: string]: string } = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/**
 * Reads a document as strictly as XML 1.0 wants it: one root, elements that close, attributes once each and in quotes,
 * no `<` in values, no `]]>` in text, known entities, and characters that are allowed.
 *
 * @throws Error that says what is wrong and where.
 */
export function parseXml(source: string): XmlElement {
  return new Reader(source).document();
}

class Reader {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  document(): XmlElement {
    const wrong = forbidden.exec(this.#source);
    if (wrong) this.#fail(`the character ${JSON.stringify(wrong[0])} is not allowed`, wrong.index);
    if (this.#source.startsWith('\uFEFF')) this.#at++;
    this.#take(/<\?xml version="1\.[01]"(?: encoding="[\w-]+")?(?: standalone="(?:yes|no)")?\?>/y);
    this.#take(/\s*/y);
    const root = this.#element();
    this.#take(/\s*/y);
    if (this.#at < this.#source.length) this.#fail('something follows the root');
    return root;
  }

  #element(): XmlElement {
    const [, name = ''] = this.#take(/<([A-Za-z_][\w.-]*)/y) ?? this.#fail('an element was expected');
    const attributes: Record<string, string> = {};
    for (;;) {
      const found = this.#take(/\s+([A-Za-z_][\w.-]*)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/y);
      if (!found) break;
      const [, attribute = '', double, single] = found;
      if (attribute in attributes) this.#fail(`the attribute ${attribute} is there twice`);
      attributes[attribute] = this.#unescaped(double ?? single ?? '');
    }
    if (this.#take(/\s*\/>/y)) return { name, attributes, children: [], text: '' };
    if (!this.#take(/\s*>/y)) this.#fail(`<${name} is not closed`);
    const children: XmlElement[] = [];
    let text = '';
    for (;;) {
      const [words = ''] = this.#take(/[^<]+/y) ?? [];
      if (words.includes(']]>')) this.#fail('"]]>" may not be in a text');
      text += this.#unescaped(words);
      const [, data] = this.#take(/<!\[CDATA\[([\s\S]*?)\]\]>/y) ?? [];
      if (data !== undefined) {
        text += data;
        continue;
      }
      const end = this.#take(/<\/([\w.-]+)\s*>/y);
      if (!end) {
        children.push(this.#element());
        continue;
      }
      if (end[1] !== name) this.#fail(`</${end[1] ?? ''}> closes <${name}>`);
      return { name, attributes, children, text };
    }
  }

  #unescaped(text: string): string {
    return text.replaceAll(/&(#x[\da-fA-F]+|#\d+|\w*)(;?)/g, (_all, what: string, end: string) => {
      if (end !== ';') this.#fail(`&${what} is no entity`);
      if (!what.startsWith('#')) return entities[what] ?? this.#fail(`&${what}; is not known`);
      const code = what.startsWith('#x') ? Number.parseInt(what.slice(2), 16) : Number(what.slice(1));
      const character = String.fromCodePoint(code);
      return forbidden.test(character) ? this.#fail(`&${what}; is not allowed`) : character;
    });
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source);
    if (found) this.#at = pattern.lastIndex;
    return found ?? undefined;
  }

  #fail(what: string, at = this.#at): never {
    const line = this.#source.slice(0, at).split('\n').length;
    throw new Error(`line ${line}: ${what}: ${JSON.stringify(this.#source.slice(at, at + 60))}`);
  }
}
