import type { Check } from '../../check.ts';
import type { Level } from '../../rule-model.ts';
import type { Probe } from '../../probe.ts';
import type { Exchange } from '../../wire/http-exchange.ts';

/** A check about the card: id, requirements, section, level, sentence, remedy, and what it does. */
export function aboutCard(
  id: string,
  requirements: readonly string[],
  section: string,
  level: Level,
  sentence: string,
  remedy: string,
  run: (probe: Probe) => Promise<void> | void,
): Check {
  return {
    id,
    requirements,
    section,
    level,
    category: 'agent-card',
    sentence,
    remedy,
    versions: ['1.0'],
    about: 'card',
    run: async (probe) => run(probe),
  };
}

/** Fetches the card as a caller of 1.0. */
export function fetchCard(probe: Probe, headers: Record<string, string> = {}): Promise<Exchange> {
  return probe.raw({
    method: 'GET',
    url: probe.tools.cardUrl,
    headers: { accept: 'application/json', 'a2a-version': '1.0', ...headers },
  });
}
