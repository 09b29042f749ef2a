/** A parsed XML element. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlElement[];
  /** The text of the element without the text of its children. */
  readonly text: string;
}

/** Characters that XML 1.0 does not allow, not even as character references. */
const forbidden = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

const entities: { readonly [name: string]: string } = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/**
 * Parses an XML 1.0 document strictly: one root, closed elements, unique quoted attributes, no `<` in values, no `]]>`
 * in text, only predefined entities and allowed characters.
 *
 * @throws Error with line and reason.
 */
export function parseXml(source: string): XmlElement {
  return new XmlParser(source).document();
}

class XmlParser {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  document(): XmlElement {
    const invalid = forbidden.exec(this.#source);
    if (invalid) this.#fail(`the character ${JSON.stringify(invalid[0])} is not allowed`, invalid.index);
    if (this.#source.startsWith('\uFEFF')) this.#at++;
    this.#take(/<\?xml version="1\.[01]"(?: encoding="[\w-]+")?(?: standalone="(?:yes|no)")?\?>/y);
    this.#take(/\s*/y);
    const root = this.#element();
    this.#take(/\s*/y);
    if (this.#at < this.#source.length) this.#fail('content after the root element');
    return root;
  }

  #element(): XmlElement {
    const [, name = ''] = this.#take(/<([A-Za-z_][\w.-]*)/y) ?? this.#fail('expected an element');
    const attributes: Record<string, string> = {};
    for (;;) {
      const found = this.#take(/\s+([A-Za-z_][\w.-]*)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/y);
      if (!found) break;
      const [, attribute = '', double, single] = found;
      if (attribute in attributes) this.#fail(`duplicate attribute ${attribute}`);
      attributes[attribute] = this.#unescape(double ?? single ?? '');
    }
    if (this.#take(/\s*\/>/y)) return { name, attributes, children: [], text: '' };
    if (!this.#take(/\s*>/y)) this.#fail(`<${name} is not closed`);
    const children: XmlElement[] = [];
    let text = '';
    for (;;) {
      const [characters = ''] = this.#take(/[^<]+/y) ?? [];
      if (characters.includes(']]>')) this.#fail('"]]>" is not allowed in text');
      text += this.#unescape(characters);
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

  #unescape(text: string): string {
    return text.replaceAll(/&(#x[\da-fA-F]+|#\d+|\w*)(;?)/g, (_all, what: string, end: string) => {
      if (end !== ';') this.#fail(`&${what} is not an entity`);
      if (!what.startsWith('#')) return entities[what] ?? this.#fail(`unknown entity &${what};`);
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
