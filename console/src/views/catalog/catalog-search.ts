import type { CatalogEntry } from '../../../../src/console/console-api.ts';

/** What the user searches for; empty texts match everything. */
export interface CatalogFilter {
  /** Words that name, description or skills contain. */
  readonly text: string;
  readonly version: string;
  readonly transport: string;
  /** A security scheme, or {@link noSecurity}. */
  readonly security: string;
}

/** Choice for agents that need no credentials. */
export const noSecurity = 'none';

/** Selects the agents that match all conditions. Version and transport must be those of one interface. */
export function searchCatalog(entries: readonly CatalogEntry[], filter: CatalogFilter): CatalogEntry[] {
  const words = filter.text.toLowerCase().split(/\s+/);
  return entries.filter((entry) => {
    const text = searchText(entry);
    return (
      words.every((word) => text.includes(word)) && hasVariant(entry, filter) && hasSecurity(entry, filter)
    );
  });
}

function searchText({ name, description = '', skills }: CatalogEntry): string {
  const ofSkills = skills.flatMap((skill) => [skill.id, skill.name, skill.description, ...skill.tags]);
  return [name, description, ...ofSkills].join('\n').toLowerCase();
}

function hasVariant({ variants }: CatalogEntry, { version, transport }: CatalogFilter): boolean {
  if (version === '' && transport === '') return true;
  return variants.some(
    (each) =>
      (version === '' || each.version === version) && (transport === '' || each.transport === transport),
  );
}

function hasSecurity({ security, error }: CatalogEntry, filter: CatalogFilter): boolean {
  if (filter.security === '') return true;
  // Without its card, nothing is known about an agent.
  if (filter.security === noSecurity) return security.length === 0 && error === undefined;
  return security.includes(filter.security);
}

/** Lists the values that some agent has, for the choices of the filters. */
export function listChoices(entries: readonly CatalogEntry[]) {
  const sorted = (values: readonly string[]) => [...new Set(values)].toSorted();
  const variants = entries.flatMap((each) => each.variants);
  return {
    versions: sorted(variants.map(({ version }) => version)).toReversed(),
    transports: sorted(variants.map(({ transport }) => transport)),
    security: sorted(entries.flatMap((each) => each.security)),
  };
}
