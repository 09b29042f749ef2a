import type { CatalogEntry } from '../../../../src/console/console-api.ts';
import { transportName } from '../../components/badge.tsx';
import { Select, TextField } from '../../components/form-fields.tsx';
import { listChoices, noSecurity } from './catalog-search.ts';
import { filter, updateFilter } from './state.ts';

/** Search field, and filters for version, transport and security. */
export function CatalogFilters({ entries }: { entries: readonly CatalogEntry[] }) {
  const { text, version, transport, security } = filter.value;
  const choices = listChoices(entries);
  return (
    <div class="catalog-filters" role="search" aria-label="Agents of the catalog">
      <TextField
        label="Skill or name"
        type="search"
        placeholder="any"
        value={text}
        onValue={(value) => updateFilter({ text: value })}
      />
      <Select
        label="Version"
        value={version}
        choices={withAny(choices.versions, version)}
        onValue={(value) => updateFilter({ version: value })}
      />
      <Select
        label="Transport"
        value={transport}
        choices={withAny(choices.transports, transport, transportName)}
        onValue={(value) => updateFilter({ transport: value })}
      />
      <Select
        label="Security"
        value={security}
        choices={withAny([noSecurity, ...choices.security], security)}
        onValue={(value) => updateFilter({ security: value })}
      />
    </div>
  );
}

/** A selected value stays a choice, also if no agent has it. */
function withAny(values: readonly string[], selected: string, format = (value: string) => value) {
  const all = selected === '' || values.includes(selected) ? values : [...values, selected];
  return [{ value: '', text: 'Any' }, ...all.map((value) => ({ value, text: format(value) }))];
}
