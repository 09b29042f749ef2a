import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkPattern,
  checkTopic,
  topicMatches,
  readSubject,
  TopicIndex,
  writeMqttPattern,
  writeSubject,
  writeSubjectPattern,
} from './topic-pattern.ts';

const level = fc.oneof(
  fc.constantFrom('a', 'b', '', '*', '>', '.', '%', '%2E', 'a.b', 'a b', 'ü', '🙂', '$JS', 'a*', '>>'),
  fc.string({ unit: 'grapheme', maxLength: 5 }).map((text) => text.replaceAll('/', '')),
);
const topics = fc
  .array(level, { minLength: 1, maxLength: 6 })
  .map((levels) => levels.join('/'))
  .filter((topic) => {
    try {
      checkTopic(topic);
      return true;
    } catch {
      return false;
    }
  });
const patterns = topics.filter((topic) => {
  const levels = topic.split('/');
  return !levels.slice(0, -1).includes('>');
});

/** Matching as implemented by NATS. */
function subjectMatches(pattern: string, subject: string): boolean {
  const patternTokens = pattern.split('.');
  const tokens = subject.split('.');
  for (const [at, token] of patternTokens.entries()) {
    if (token === '>') return tokens.length > at;
    if (at >= tokens.length || (token !== '*' && token !== tokens[at])) return false;
  }
  return patternTokens.length === tokens.length;
}

describe('topic pattern', () => {
  it.each<[string, string, boolean]>([
    ['a/b', 'a/b', true],
    ['a/b', 'a/b/c', false],
    ['a/*', 'a/b', true],
    ['a/*', 'a', false],
    ['a/*/c', 'a/b/c', true],
    ['a/*/c', 'a/b/d', false],
    ['*', 'a', true],
    ['*', 'a/b', false],
    ['>', 'a', true],
    ['>', 'a/b/c', true],
    ['a/>', 'a', false],
    ['a/>', 'a/b', true],
    ['a/>', 'a/b/c', true],
    ['a/*/>', 'a/b', false],
    ['a/*/>', 'a/b/c', true],
    ['a/', 'a/', true],
    ['a/*', 'a/', true],
    ['ab*', 'abc', false],
  ])('%s matches %s: %s', (pattern, topic, expected) => {
    expect(topicMatches(pattern, topic)).toBe(expected);
    const index = new TopicIndex<string>();
    index.add(pattern, 'x');
    expect(index.match(topic).has('x')).toBe(expected);
  });

  it.each(['', 'a/+', 'a#', 'a\0b', 'a\nb', 'a/\ud800', 'x'.repeat(65_536), 'a/>/b', '>/a'])(
    'rejects %j',
    (pattern) => {
      expect(() => checkPattern(pattern)).toThrow(/^pattern /);
    },
  );

  it('converts a topic pattern to MQTT', () => {
    expect(['a/b', 'a/*/c', 'a/>', '>', '*', 'a/b*', 'a/>b'].map(writeMqttPattern)).toEqual([
      'a/b',
      'a/+/c',
      'a/#',
      '#',
      '+',
      'a/b*',
      'a/>b',
    ]);
  });
});

describe('TopicIndex', () => {
  it('finds the same values as topicMatches, until they are deleted', () => {
    fc.assert(
      fc.property(fc.uniqueArray(patterns, { maxLength: 20 }), topics, (all, topic) => {
        const index = new TopicIndex<string>();
        for (const pattern of all) index.add(pattern, pattern);
        expect([...index.match(topic)].toSorted()).toEqual(
          all.filter((pattern) => topicMatches(pattern, topic)).toSorted(),
        );
        for (const pattern of all) index.delete(pattern, pattern);
        expect([index.match(topic).size, index.all().size]).toEqual([0, 0]);
      }),
    );
  });

  it('finds one of 50,000 patterns', () => {
    const index = new TopicIndex<{ at: number }>();
    for (let at = 0; at < 50_000; at++) index.add(`ns/agent/${at}/>`, { at });
    expect([...index.match('ns/agent/777/x')]).toEqual([{ at: 777 }]);
  });
});

describe('NATS subject', () => {
  it('round-trips every topic', () => {
    fc.assert(
      fc.property(topics, (topic) => {
        const subject = writeSubject(topic);
        expect(readSubject(subject)).toBe(topic);
        expect(subject).toMatch(/^[!-~]+$/);
        expect(subject.split('.').every((token) => token !== '' && !/^[*>]$/.test(token))).toBe(true);
        expect(subject.split('.')).toHaveLength(topic.split('/').length);
      }),
    );
  });

  it('matches like the topic', () => {
    fc.assert(
      fc.property(patterns, topics, (pattern, topic) => {
        expect(subjectMatches(writeSubjectPattern(pattern), writeSubject(topic))).toBe(
          topicMatches(pattern, topic),
        );
      }),
    );
  });

  it('reads a subject of other senders as a topic', () => {
    expect(readSubject('a.b%zz')).toBe('a/b%zz');
  });
});
