import { invalidField } from '../../protocol/errors.ts';

/** Control characters, halves of characters and those that are none: a broker may break the connection for them. */
export const unprintable = /[\p{Control}\p{Surrogate}\p{Noncharacter_Code_Point}]/u;

/** The longest topic that every broker takes, in bytes. */
const longestTopic = 65_535;

/**
 * Checks a topic that is published to: any levels parted by `/`, without the characters that MQTT keeps for its own
 * patterns, so that what works on one link works on all.
 */
export function checkTopic(topic: string, field = 'topic'): void {
  if (topic === '') throw invalidField(field, 'is empty');
  if (/[+#]/.test(topic)) throw invalidField(field, 'contains + or #, which no topic may');
  if (unprintable.test(topic)) throw invalidField(field, 'contains a character that cannot be printed');
  // Three bytes is the most that one UTF-16 unit becomes, so most topics need not be counted.
  if (topic.length * 3 > longestTopic && Buffer.byteLength(topic) > longestTopic)
    throw invalidField(field, `is longer than ${longestTopic} bytes`);
}

/** Checks a pattern: a topic in which a level may be `*`, and the last one `>`. */
export function checkPattern(pattern: string): void {
  checkTopic(pattern, 'pattern');
  const at = pattern.split('/').indexOf('>');
  if (at >= 0 && at < pattern.split('/').length - 1) throw invalidField('pattern', 'has > before its end');
}

/** Tells whether a topic matches a pattern. */
export function topicMatches(pattern: string, topic: string): boolean {
  const wanted = pattern.split('/');
  const levels = topic.split('/');
  for (const [at, level] of wanted.entries()) {
    if (level === '>' && at === wanted.length - 1) return levels.length > at;
    if (at >= levels.length || (level !== '*' && level !== levels[at])) return false;
  }
  return wanted.length === levels.length;
}

/** A level of the index: what ends here, what takes everything below, and what goes on. */
interface Node<T> {
  ends: Set<T>;
  rest: Set<T>;
  next: Map<string, Node<T>>;
}

const newNode = <T>(): Node<T> => ({ ends: new Set(), rest: new Set(), next: new Map() });

/** Finds who wants a topic by walking its levels, so that it costs the same however many there are. */
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

  /** Everybody there is. */
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

  /** Everybody whose pattern matches, each once. */
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
    // A level of a topic that is a star itself was looked up already.
    const any = level === '*' ? undefined : node.next.get('*');
    if (any) this.#collect(any, levels, at + 1, found);
  }

  /** Takes a value out, and the levels that nothing is left of. */
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

/** Writes a pattern as MQTT has it. What arrives is matched again: there, `a/#` takes `a` as well. */
export function writeMqttPattern(pattern: string): string {
  const levels = pattern.split('/');
  const written = levels.map((level, at) =>
    level === '*' ? '+' : level === '>' && at === levels.length - 1 ? '#' : level,
  );
  return written.join('/');
}

/** Writes a level as a token that NATS takes: letters, digits and a few signs as they are, the rest as `%2E`. */
function writeToken(level: string): string {
  // A token may not be empty, and a lone percent sign is written for nothing else.
  if (level === '') return '%';
  return encodeURIComponent(level).replaceAll('.', '%2E').replaceAll('*', '%2A');
}

const readToken = (token: string): string => (token === '%' ? '' : decodeURIComponent(token));

/** Writes a topic as a subject of NATS. */
export function writeSubject(topic: string): string {
  return topic.split('/').map(writeToken).join('.');
}

/** Writes a pattern as a subject of NATS with its wildcards. */
export function writeSubjectPattern(pattern: string): string {
  const levels = pattern.split('/');
  const written = levels.map((level, at) =>
    level === '*' || (level === '>' && at === levels.length - 1) ? level : writeToken(level),
  );
  return written.join('.');
}

/** Reads the topic that a subject of NATS stands for; one that we did not write is read as it is. */
export function readSubject(subject: string): string {
  try {
    return subject.split('.').map(readToken).join('/');
  } catch {
    return subject.replaceAll('.', '/');
  }
}
