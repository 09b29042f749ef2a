import { RuleViolationError, InconclusiveError, NotApplicableError } from '../check-errors.ts';
import { type PeerAnswer, askPeer, type InteropPeer, promptFor } from './interop-peer.ts';
import { isJsonObject, type JsonObject, asList, asText } from '../drivers/normalized-views.ts';

/** The words for an agent that says that it delegates and not how it wants to be asked. */
const usualWords = 'Ask the agent at {url} this, and give me its answer: {text}';

/** An address at which nobody is, by its name (RFC 2606). */
const nowhere = 'https://nobody.invalid';

/** How many tasks are handed on at the same time. */
const atOnce = 4;

/**
 * Lets an agent ask another by itself: it is told the address of the other and a text with a mark, and the mark has to
 * come back in what the other answered.
 *
 * @param wanted - the id of a skill, or the words that ask for it, with `{url}` and `{text}`.
 * @throws NotApplicable when the agent does not say that it can.
 */
export async function testDelegation(
  from: InteropPeer,
  to: InteropPeer,
  wanted: string | undefined,
  who: 'as-told' | 'only-if-declared' = 'as-told',
): Promise<void> {
  const words = wordsOf(from, wanted, who);
  const direct = await askMarked(to, (text) => text, to.url);
  if (!direct.answer.text.includes(direct.mark))
    throw new InconclusiveError(
      `${to.name} does not repeat what it is told, so its answer could not be told from others. Name a text that it repeats as \`completed\` in a scenario file.`,
    );
  const handed = await askMarked(from, asked(words, to.url), to.url, promptFor(to));
  expectAnswer(from, to, handed);
  // What the other says beside the text cannot come from the request, so the other was there.
  const expected = direct.answer.text.replaceAll(direct.mark, handed.mark);
  if (handed.answer.text.includes(expected) && !handed.request.includes(expected)) return;
  const control = await askMarked(from, asked(words, nowhere), nowhere, promptFor(to));
  if (plain(control) === plain(handed))
    throw new RuleViolationError(
      `${from.name} gives the same answer when nobody is at the address: it repeats the words and asks nobody`,
      {
        expected: `the answer of ${to.name}`,
        actual: handed.answer.text,
        exchanges: evidence(handed, control),
      },
    );
}

/** Hands several tasks on at the same time, from each agent that can, and looks for answers that got mixed up. */
export async function testConcurrentDelegation(
  first: InteropPeer,
  second: InteropPeer,
  wanted: string | undefined,
): Promise<void> {
  const pairs = [
    { from: first, to: second, words: mayWordsOf(first, wanted, 'as-told') },
    { from: second, to: first, words: mayWordsOf(second, wanted, 'only-if-declared') },
  ].flatMap(({ words, ...pair }) => (words === undefined ? [] : [{ ...pair, words }]));
  if (pairs.length === 0) throw cannot('Neither of the two says');
  const all = await Promise.all(
    pairs.flatMap(({ from, to, words }) =>
      Array.from({ length: atOnce }, async () => ({
        from,
        to,
        handed: await askMarked(from, asked(words, to.url), to.url, promptFor(to)),
      })),
    ),
  );
  for (const { from, to, handed } of all) {
    expectAnswer(from, to, handed);
    const other = all.find((each) => each.handed !== handed && handed.answer.text.includes(each.handed.mark));
    if (other)
      throw new RuleViolationError(
        `${from.name} answered "${handed.mark}" with words for "${other.handed.mark}"`,
        {
          exchanges: evidence(handed),
        },
      );
  }
}

/** A question with a mark in it, and what came of it. */
interface Marked {
  readonly mark: string;
  readonly url: string;
  readonly request: string;
  readonly answer: PeerAnswer;
}

async function askMarked(
  partner: InteropPeer,
  word: (text: string) => string,
  url: string,
  words = promptFor(partner),
): Promise<Marked> {
  const mark = `m${crypto.randomUUID().slice(0, 8)}`;
  const request = word(`${words} ${mark}`);
  return { mark, url, request, answer: await askPeer(partner, request) };
}

function asked(words: string, url: string): (text: string) => string {
  return (text) => words.replaceAll('{url}', () => url).replaceAll('{text}', () => text);
}

function expectAnswer(from: InteropPeer, to: InteropPeer, { mark, answer }: Marked): void {
  const { text, state, exchanges } = answer;
  if ((state ?? 'completed') === 'completed' && text.includes(mark)) return;
  const how = state === undefined ? 'a message' : `a task that is "${state}"`;
  throw new RuleViolationError(
    `${from.name} was asked to ask ${to.name}, and the answer of it did not come back`,
    {
      expected: `what ${to.name} answers, with "${mark}" in it`,
      actual: `${how}: ${JSON.stringify(text.slice(0, 200))}`,
      exchanges: exchanges.slice(-2),
    },
  );
}

/** An answer without what differs from one question to the next. */
function plain({ mark, url, answer }: Marked): string {
  return answer.text.replaceAll(mark, '{mark}').replaceAll(url, '{url}');
}

function evidence(...all: readonly Marked[]): PeerAnswer['exchanges'] {
  return all.flatMap(({ answer }) => answer.exchanges.slice(-1));
}

function wordsOf(
  partner: InteropPeer,
  wanted: string | undefined,
  who: 'as-told' | 'only-if-declared',
): string {
  const words = mayWordsOf(partner, wanted, who);
  if (words === undefined) throw cannot(`${partner.name} does not say`);
  return words;
}

/** How an agent is asked to ask another; undefined where nobody says that it can. */
function mayWordsOf(
  { published }: InteropPeer,
  wanted: string | undefined,
  who: 'as-told' | 'only-if-declared',
): string | undefined {
  const template = wanted?.includes('{text}') ? wanted : undefined;
  const skill = (asList(published?.card.skills) ?? [])
    .filter(isJsonObject)
    .find((each) => each.id === wanted || isTagged(each));
  if (!skill) return who === 'as-told' ? template : undefined;
  const example = (asList(skill.examples) ?? []).find(
    (each) => asText(each)?.includes('{url}') && asText(each)?.includes('{text}'),
  );
  return template ?? asText(example) ?? usualWords;
}

function isTagged({ tags }: JsonObject): boolean {
  return (asList(tags) ?? []).some((tag) => /^delegat(?:e|es|ion)$/i.test(asText(tag) ?? ''));
}

function cannot(who: string): NotApplicableError {
  return new NotApplicableError(
    `${who} that it can ask other agents. Tag the skill that does so with "delegation", or name the words with --delegate 'Ask {url}: {text}'.`,
  );
}
