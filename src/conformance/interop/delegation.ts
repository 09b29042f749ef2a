import { RuleViolationError, InconclusiveError, NotApplicableError } from '../check-errors.ts';
import { type PeerAnswer, askPeer, type InteropPeer, promptFor } from './interop-peer.ts';
import type { JsonObject } from '../../primitives/json.ts';
import { asText, listOf, objectsOf } from '../drivers/normalized-views.ts';

/** Prompt for an agent that declares delegation without an example. */
const defaultTemplate = 'Ask the agent at {url} this, and give me its answer: {text}';

/** Never resolves (RFC 2606). */
const unreachableUrl = 'https://nobody.invalid';

/** `as-configured` accepts the template of the options; `only-if-declared` requires a skill in the card. */
export type DelegationMode = 'as-configured' | 'only-if-declared';

/** Number of concurrent delegations of each agent. */
const concurrency = 4;

/**
 * Tests whether an agent calls another by itself: sends it the URL of the other and a text with a marker, which must be
 * in the response.
 *
 * @param delegate - the id of a skill, or a prompt template with `{url}` and `{text}`.
 * @throws NotApplicableError if the agent does not declare delegation.
 */
export async function testDelegation(
  from: InteropPeer,
  to: InteropPeer,
  delegate: string | undefined,
  mode: DelegationMode = 'as-configured',
): Promise<void> {
  const template = requireTemplate(from, delegate, mode);
  const direct = await askMarked(to, (text) => text, to.url);
  if (!direct.answer.text.includes(direct.marker))
    throw new InconclusiveError(
      `${to.name} does not echo the marker, so its response cannot be identified. Define a prompt that it echoes as \`completed\` in a prompts file.`,
    );
  const delegated = await askMarked(from, fillTemplate(template, to.url), to.url, promptFor(to));
  expectAnswer(from, to, delegated);
  // Text that the other agent adds to the marker is not in the request, so the other agent was called.
  const expected = direct.answer.text.replaceAll(direct.marker, delegated.marker);
  if (delegated.answer.text.includes(expected) && !delegated.request.includes(expected)) return;
  const control = await askMarked(
    from,
    fillTemplate(template, unreachableUrl),
    unreachableUrl,
    promptFor(to),
  );
  if (normalize(control) === normalize(delegated))
    throw new RuleViolationError(
      `${from.name} returns the same response for an unreachable URL: it echoes the request and calls no agent`,
      {
        expected: `the response of ${to.name}`,
        actual: delegated.answer.text,
        exchanges: lastExchanges(delegated, control),
      },
    );
}

/** Delegates several tasks concurrently, from each agent that can, and checks that no response contains the marker of another. */
export async function testConcurrentDelegation(
  first: InteropPeer,
  second: InteropPeer,
  delegate: string | undefined,
): Promise<void> {
  const pairs = [
    { from: first, to: second, template: findTemplate(first, delegate, 'as-configured') },
    { from: second, to: first, template: findTemplate(second, delegate, 'only-if-declared') },
  ].flatMap(({ template, ...pair }) => (template === undefined ? [] : [{ ...pair, template }]));
  if (pairs.length === 0) throw notDeclared('Neither agent declares');
  const all = await Promise.all(
    pairs.flatMap(({ from, to, template }) =>
      Array.from({ length: concurrency }, async () => ({
        from,
        to,
        delegated: await askMarked(from, fillTemplate(template, to.url), to.url, promptFor(to)),
      })),
    ),
  );
  for (const { from, to, delegated } of all) {
    expectAnswer(from, to, delegated);
    const other = all.find(
      (each) => each.delegated !== delegated && delegated.answer.text.includes(each.delegated.marker),
    );
    if (other)
      throw new RuleViolationError(
        `${from.name} responded to "${delegated.marker}" with the response to "${other.delegated.marker}"`,
        { exchanges: lastExchanges(delegated) },
      );
  }
}

/** A request that contains a marker, and its response. */
interface MarkedAnswer {
  readonly marker: string;
  readonly url: string;
  readonly request: string;
  readonly answer: PeerAnswer;
}

async function askMarked(
  peer: InteropPeer,
  toRequest: (text: string) => string,
  url: string,
  prompt = promptFor(peer),
): Promise<MarkedAnswer> {
  const marker = `m${crypto.randomUUID().slice(0, 8)}`;
  const request = toRequest(`${prompt} ${marker}`);
  return { marker, url, request, answer: await askPeer(peer, request) };
}

function fillTemplate(template: string, url: string): (text: string) => string {
  return (text) => template.replaceAll('{url}', () => url).replaceAll('{text}', () => text);
}

function expectAnswer(from: InteropPeer, to: InteropPeer, { marker, answer }: MarkedAnswer): void {
  const { text, state, exchanges } = answer;
  if ((state ?? 'completed') === 'completed' && text.includes(marker)) return;
  const kind = state === undefined ? 'a message' : `a task in the state "${state}"`;
  throw new RuleViolationError(`${from.name} did not return the response of ${to.name}`, {
    expected: `the response of ${to.name}, containing "${marker}"`,
    actual: `${kind}: ${JSON.stringify(text.slice(0, 200))}`,
    exchanges: exchanges.slice(-2),
  });
}

/** Removes the values that differ between requests. */
function normalize({ marker, url, answer }: MarkedAnswer): string {
  return answer.text.replaceAll(marker, '{marker}').replaceAll(url, '{url}');
}

function lastExchanges(...all: readonly MarkedAnswer[]): PeerAnswer['exchanges'] {
  return all.flatMap(({ answer }) => answer.exchanges.slice(-1));
}

function requireTemplate(peer: InteropPeer, delegate: string | undefined, mode: DelegationMode): string {
  const template = findTemplate(peer, delegate, mode);
  if (template === undefined) throw notDeclared(`${peer.name} does not declare`);
  return template;
}

/** Returns the prompt template for delegation, or undefined if the agent does not declare it. */
function findTemplate(
  { published }: InteropPeer,
  delegate: string | undefined,
  mode: DelegationMode,
): string | undefined {
  const configured = delegate?.includes('{text}') ? delegate : undefined;
  const skill = objectsOf(published?.card.skills).find((each) => each.id === delegate || isTagged(each));
  if (!skill) return mode === 'as-configured' ? configured : undefined;
  const example = listOf(skill.examples).find(
    (each) => asText(each)?.includes('{url}') && asText(each)?.includes('{text}'),
  );
  return configured ?? asText(example) ?? defaultTemplate;
}

function isTagged({ tags }: JsonObject): boolean {
  return listOf(tags).some((tag) => /^delegat(?:e|es|ion)$/i.test(asText(tag) ?? ''));
}

function notDeclared(subject: string): NotApplicableError {
  return new NotApplicableError(
    `${subject} delegation to other agents. Tag the skill with "delegation", or pass a prompt template with --delegate 'Ask {url}: {text}'.`,
  );
}
