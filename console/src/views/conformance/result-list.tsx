import { transportName, VersionBadge } from '../../components/badge.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Select, TextField } from '../../components/form-fields.tsx';
import { VirtualList } from '../../components/virtual-list/virtual-list.tsx';
import { distinctValues, variantLabel, type ResultFilter, verdicts } from './results.ts';
import { selectedResult, resultFilter, results, visibleResults } from './state.ts';

function change(members: Partial<ResultFilter>): void {
  resultFilter.value = { ...resultFilter.value, ...members };
}

/** The results, one row each. */
export function ResultList() {
  const { text, section, lane } = resultFilter.value;
  const sections = distinctValues(results.value.map((each) => each.section));
  const lanes = distinctValues(results.value.map(variantLabel));
  return (
    <section class="exam-list" aria-label="Results">
      <div class="exam-filters" role="search" aria-label="Filter the results">
        <TextField
          label="Text to find"
          isLabelHidden
          type="search"
          placeholder="Find a rule or a requirement"
          value={text}
          onValue={(value) => change({ text: value })}
        />
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
          label="Way"
          isLabelHidden
          value={lane}
          onValue={(value) => change({ lane: value })}
          choices={[{ value: '', text: 'All ways' }, ...lanes.map((each) => ({ value: each, text: each }))]}
        />
        <span class="exam-shown" role="status">
          {visibleResults.value.length} of {results.value.length}
        </span>
      </div>
      {visibleResults.value.length === 0 ? (
        <EmptyState title="No result is like that">Ask for less.</EmptyState>
      ) : (
        <div class="exam-rows">
          <VirtualList
            label="Results"
            items={visibleResults.value}
            rowHeight={50}
            keyOf={(each) => `${each.test} ${variantLabel(each)}`}
            chosen={selectedResult.value ? visibleResults.value.indexOf(selectedResult.value) : -1}
            onChoose={(each) => (selectedResult.value = each)}
          >
            {(each) => (
              <div class="exam-row">
                <span
                  class={`exam-sign exam-${verdicts[each.verdict].tone}`}
                  title={verdicts[each.verdict].name}
                >
                  {verdicts[each.verdict].sign}
                  <span class="heard-only">{verdicts[each.verdict].name}</span>
                </span>
                <span class="exam-rule">
                  <code>{each.test}</code>
                  <span>{each.rule}</span>
                </span>
                <span class="exam-lane">
                  {each.level}
                  <VersionBadge version={each.version} />
                  <span class="exam-transport">
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
