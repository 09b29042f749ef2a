import type { CardFinding } from '../../../../src/console/console-api.ts';

/** Returns true if a field path equals or is below another: `skills[0].tags` is below `skills[0]` and `skills`. */
function isWithin(path: string, place: string): boolean {
  if (!path.startsWith(place)) return false;
  const next = path[place.length];
  return next === undefined || next === '.' || next === '[';
}

/** Selects the findings of some fields. */
export function findingsAt(findings: readonly CardFinding[], ...places: readonly string[]): CardFinding[] {
  return findings.filter(({ path }) => places.some((place) => isWithin(path, place)));
}

/** Card fields of each rendered row, in all versions. */
export const fieldPaths = {
  name: ['name'],
  description: ['description'],
  version: ['version'],
  provider: ['provider'],
  links: ['documentationUrl', 'iconUrl'],
  interfaces: [
    'supportedInterfaces',
    'additionalInterfaces',
    'interfaces',
    'url',
    'preferredTransport',
    'protocolVersion',
  ],
  capabilities: ['capabilities', 'supportsAuthenticatedExtendedCard', 'supportsExtendedAgentCard'],
  takes: ['defaultInputModes'],
  gives: ['defaultOutputModes'],
  security: ['securitySchemes', 'securityRequirements', 'security', 'authentication'],
  signatures: ['signatures'],
} as const;

/** Selects the findings of fields that are not rendered. */
export function unplacedFindings(findings: readonly CardFinding[]): CardFinding[] {
  const shown = [...Object.values(fieldPaths).flat(), 'skills'];
  return findings.filter(({ path }) => !shown.some((place) => isWithin(path, place)));
}
