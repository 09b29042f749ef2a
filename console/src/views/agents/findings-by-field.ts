import type { CardFinding } from '../../../../src/console/console-api.ts';

/** True when a place is the other one, or within it: `skills[0].tags` is within `skills[0]` and `skills`. */
function isWithin(path: string, place: string): boolean {
  if (!path.startsWith(place)) return false;
  const next = path[place.length];
  return next === undefined || next === '.' || next === '[';
}

/** The findings of some places of a card. */
export function findingsAt(findings: readonly CardFinding[], ...places: readonly string[]): CardFinding[] {
  return findings.filter(({ path }) => places.some((place) => isWithin(path, place)));
}

/** Which members of a card each rendered field stands for, whatever the version calls them. */
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

/** The findings of no field that is rendered. */
export function unplacedFindings(findings: readonly CardFinding[]): CardFinding[] {
  const shown = [...Object.values(fieldPaths).flat(), 'skills'];
  return findings.filter(({ path }) => !shown.some((place) => isWithin(path, place)));
}
