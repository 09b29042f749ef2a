import type { Check } from '../../check.ts';
import type { RequirementLevel } from '../../rule-model.ts';
import type { Probe } from '../../probe.ts';
import type { HttpExchange } from '../../wire/http-exchange.ts';

/** A check about the card: id, requirements, section, level, sentence, remedy, and what it does. */
export function cardCheck(
  id: string,
  requirements: readonly string[],
  section: string,
  level: RequirementLevel,
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
export function fetchCard1_0(probe: Probe, headers: Record<string, string> = {}): Promise<HttpExchange> {
  return probe.sendRaw({
    method: 'GET',
    url: probe.context.cardUrl,
    headers: { accept: 'application/json', 'a2a-version': '1.0', ...headers },
  });
}
