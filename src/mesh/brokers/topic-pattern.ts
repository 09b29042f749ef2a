import { invalidField } from '../../protocol/errors.ts';

/** Control characters, lone surrogates and noncharacters, for which a broker may close the connection. */
export const unprintable = /[\p{Control}\p{Surrogate}\p{Noncharacter_Code_Point}]/u;

/** Maximum number of bytes of a topic that all brokers accept. */
const maxTopicBytes = 65_535;

/**
 * Checks a topic for publishing: levels separated by `/`, without the wildcards of MQTT, so that it works with all
 * brokers.
 *
 * @throws {@link A2AError} `INVALID_PARAMS`
 */
export function checkTopic(topic: string, field = 'topic'): void {
  if (topic === '') throw invalidField(field, 'must not be empty');
  if (/[+#]/.test(topic)) throw invalidField(field, 'must not contain + or #');
  if (unprintable.test(topic)) throw invalidField(field, 'must not contain unprintable characters');
  // One UTF-16 unit has at most three bytes, so most topics need not be encoded.
  if (topic.length * 3 > maxTopicBytes && Buffer.byteLength(topic) > maxTopicBytes)
    throw invalidField(field, `must have at most ${maxTopicBytes} bytes`);
}

/** Checks a pattern: a topic whose levels may be `*`, and the last one `>`. */
export function checkPattern(pattern: string): void {
  checkTopic(pattern, 'pattern');
  const at = pattern.split('/').indexOf('>');
  if (at >= 0 && at < pattern.split('/').length - 1)
    throw invalidField('pattern', 'must not contain > before its end');
}

/** Returns true if a topic matches a pattern. */
export function topicMatches(pattern: string, topic: string): boolean {
  const patternLevels = pattern.split('/');
  const levels = topic.split('/');
  for (const [at, level] of patternLevels.entries()) {
    if (level === '>' && at === patternLevels.length - 1) return levels.length > at;
    if (at >= levels.length || (level !== '*' && level !== levels[at])) return false;
  }
  return patternLevels.length === levels.length;
}

/** Trie node: values that end here, values that match all levels below, and the next levels. */
interface Node<T> {
  ends: Set<T>;
  rest: Set<T>;
  next: Map<string, Node<T>>;
}

const newNode = <T>(): Node<T> => ({ ends: new Set(), rest: new Set(), next: new Map() });

/** Trie of patterns. The cost of a match depends on the levels of the topic, not on the number of patterns. */
export class TopicIndex<T> {
  #root = newNode<T>();

  add(pattern: string, value: T): void {
    let node = this.#root;
    const levels = pattern.split('/');
    for (const [at, level] of levels.entries()) {
      if (level === '>' && at === levels.length - 1) {
        node.rest.add(value);
        return;
      }
      let next = node.next.get(level);
      if (!next) node.next.set(level, (next = newNode()));
      node = next;
    }
    node.ends.add(value);
  }

  delete(pattern: string, value: T): void {
    this.#remove(this.#root, pattern.split('/'), 0, value);
  }

  all(): Set<T> {
    const found = new Set<T>();
    const walk = (node: Node<T>): void => {
      for (const value of node.ends) found.add(value);
      for (const value of node.rest) found.add(value);
      for (const next of node.next.values()) walk(next);
    };
    walk(this.#root);
    return found;
  }

  /** Returns the values whose pattern matches, each once. */
  match(topic: string): Set<T> {
    const found = new Set<T>();
    this.#collect(this.#root, topic.split('/'), 0, found);
    return found;
  }

  #collect(node: Node<T>, levels: readonly string[], at: number, found: Set<T>): void {
    const level = levels[at];
    if (level === undefined) {
      for (const value of node.ends) found.add(value);
      return;
    }
    for (const value of node.rest) found.add(value);
    const exact = node.next.get(level);
    if (exact) this.#collect(exact, levels, at + 1, found);
    // If the level of the topic itself is `*`, this node was visited already.
    const any = level === '*' ? undefined : node.next.get('*');
    if (any) this.#collect(any, levels, at + 1, found);
  }

  /** Removes a value and empty nodes. */
  #remove(node: Node<T>, levels: readonly string[], at: number, value: T): void {
    const level = levels[at];
    if (level === undefined) {
      node.ends.delete(value);
    } else if (level === '>' && at === levels.length - 1) {
      node.rest.delete(value);
    } else {
      const next = node.next.get(level);
      if (!next) return;
      this.#remove(next, levels, at + 1, value);
      if (next.ends.size + next.rest.size + next.next.size === 0) node.next.delete(level);
    }
  }
}

/** Converts a pattern to MQTT. Received topics are matched again, because in MQTT `a/#` also matches `a`. */
export function writeMqttPattern(pattern: string): string {
  const levels = pattern.split('/');
  const converted = levels.map((level, at) =>
    level === '*' ? '+' : level === '>' && at === levels.length - 1 ? '#' : level,
  );
  return converted.join('/');
}

/** Encodes a level as a NATS token: special characters are percent-encoded. */
function encodeToken(level: string): string {
  // A token must not be empty; a lone percent sign has no other meaning.
  if (level === '') return '%';
  return encodeURIComponent(level).replaceAll('.', '%2E').replaceAll('*', '%2A');
}

const decodeToken = (token: string): string => (token === '%' ? '' : decodeURIComponent(token));

/** Converts a topic to a NATS subject. */
export function writeSubject(topic: string): string {
  return topic.split('/').map(encodeToken).join('.');
}

/** Converts a pattern to a NATS subject with wildcards. */
export function writeSubjectPattern(pattern: string): string {
  const levels = pattern.split('/');
  const converted = levels.map((level, at) =>
    level === '*' || (level === '>' && at === levels.length - 1) ? level : encodeToken(level),
  );
  return converted.join('.');
}

/** Converts a NATS subject to its topic. Invalid percent-encodings of other senders are kept. */
export function readSubject(subject: string): string {
  try {
    return subject.split('.').map(decodeToken).join('/');
  } catch {
    return subject.replaceAll('.', '/');
  }
}
