import { transportName, VersionBadge } from '../../components/badge.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Select, TextField } from '../../components/form-fields.tsx';
import { VirtualList } from '../../components/virtual-list/virtual-list.tsx';
import { ChangeBadge } from './compare/change-badge.tsx';
import { changesByResult, comparedId } from './compare/state.ts';
import { distinctValues, resultKey, variantLabel, type ResultFilter, verdicts } from './results.ts';
import { selectedResult, selectResult, resultFilter, results, visibleResults } from './state.ts';

function change(members: Partial<ResultFilter>): void {
  resultFilter.value = { ...resultFilter.value, ...members };
}

export function ResultList() {
  const { text, level, section, variant, change: difference } = resultFilter.value;
  const differences = changesByResult.value;
  const sections = distinctValues(results.value.map((each) => each.section));
  const variants = distinctValues(results.value.map(variantLabel));
  return (
    <section class="conformance-list" aria-label="Results">
      <div class="conformance-filters" role="search" aria-label="Filter results">
        <TextField
          label="Search"
          isLabelHidden
          type="search"
          placeholder="Search rules and requirements"
          value={text}
          onValue={(value) => change({ text: value })}
        />
        <Select
          label="Level"
          isLabelHidden
          value={level}
          onValue={(value) => change({ level: value as ResultFilter['level'] })}
          choices={[
            { value: '', text: 'All levels' },
            ...['MUST', 'SHOULD', 'MAY'].map((each) => ({ value: each, text: each })),
          ]}
        />
        {comparedId.value === '' ? null : (
          <Select
            label="Changes"
            isLabelHidden
            value={difference}
            onValue={(value) => change({ change: value as ResultFilter['change'] })}
            choices={[
              { value: '', text: 'All, also unchanged' },
              { value: 'regression', text: 'New violations' },
              { value: 'fixed', text: 'Fixed' },
              { value: 'changed', text: 'Other changes' },
            ]}
          />
        )}
        <Select
          label="Section"
          isLabelHidden
          value={section}
          onValue={(value) => change({ section: value })}
          choices={[
            { value: '', text: 'All sections' },
            ...sections.map((each) => ({ value: each, text: each })),
          ]}
        />
        <Select
          label="Variant"
          isLabelHidden
          value={variant}
          onValue={(value) => change({ variant: value })}
          choices={[
            { value: '', text: 'All variants' },
            ...variants.map((each) => ({ value: each, text: each })),
          ]}
        />
        <span class="conformance-shown" role="status">
          {visibleResults.value.length} of {results.value.length}
        </span>
      </div>
      {visibleResults.value.length === 0 ? (
        <EmptyState title="No matching results">Change or clear the filters.</EmptyState>
      ) : (
        <div class="conformance-rows">
          <VirtualList
            label="Results"
            items={visibleResults.value}
            rowHeight={50}
            keyOf={resultKey}
            chosen={selectedResult.value ? visibleResults.value.indexOf(selectedResult.value) : -1}
            onChoose={selectResult}
          >
            {(each) => (
              <div class="conformance-row">
                <span
                  class={`conformance-sign conformance-${verdicts[each.verdict].tone}`}
                  title={verdicts[each.verdict].name}
                >
                  {verdicts[each.verdict].sign}
                  <span class="visually-hidden">{verdicts[each.verdict].name}</span>
                </span>
                <span class="conformance-rule">
                  <code>{each.test}</code>
                  <span>{each.rule}</span>
                </span>
                <ChangeBadge change={differences.get(resultKey(each))} />
                <span class="conformance-variant">
                  {each.level}
                  <VersionBadge version={each.version} />
                  <span class="conformance-transport">
                    {each.transport === undefined ? 'card' : transportName(each.transport)}
                  </span>
                </span>
              </div>
            )}
          </VirtualList>
        </div>
      )}
    </section>
  );
}
