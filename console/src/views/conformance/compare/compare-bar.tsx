import type { ReportEntry } from '../../../../../src/console/console-api.ts';
import { ErrorNote } from '../../../components/error-note.tsx';
import { FilePicker } from '../../../components/file-picker.tsx';
import { Select } from '../../../components/form-fields.tsx';
import { formatCountedNoun, formatDateTime } from '../../../components/format-units.ts';
import { changeNames, variantLabel, verdicts } from '../results.ts';
import { changes, comparedId, compareError, compareWith, compareWithFile, keptReports } from './state.ts';

/** Selects an earlier report and counts the differences. */
export function CompareBar({ id }: { id: string }) {
  const others = keptReports.value.filter((each) => each.id !== id);
  return (
    <>
      <div class="conformance-compare" role="group" aria-label="Comparison">
        <Select
          label="Compare with"
          value={comparedId.value}
          onValue={(value) => void compareWith(value)}
          choices={[
            { value: '', text: 'nothing' },
            ...others.map((each) => ({ value: each.id, text: describeEntry(each) })),
          ]}
        />
        <FilePicker
          label="Upload report"
          accept=".json"
          onFiles={([file]) => {
            if (file) void compareWithFile(file);
          }}
        />
        {comparedId.value === '' ? null : <ChangeCounts />}
      </div>
      {compareError.value ? <ErrorNote error={compareError.value} /> : null}
    </>
  );
}

function describeEntry({ agentName, testDate, level, isUploaded }: ReportEntry): string {
  const place = isUploaded ? ', uploaded' : '';
  return `${formatDateTime(testDate)}, ${agentName}, ${level ?? 'no verdict'}${place}`;
}

function ChangeCounts() {
  const missing = changes.value.filter(({ kind }) => kind === 'missing');
  const counted = (kind: 'regression' | 'fixed' | 'changed'): number =>
    changes.value.filter((each) => each.kind === kind).length;
  return (
    <>
      <span class="conformance-changes" role="status">
        {formatCountedNoun(counted('regression'), 'new violation', 'new violations')}, {counted('fixed')}{' '}
        {changeNames.fixed}, {formatCountedNoun(counted('changed'), 'other change', 'other changes')}
      </span>
      {missing.length === 0 ? null : (
        <details class="conformance-gone">
          <summary>{formatCountedNoun(missing.length, 'rule', 'rules')} only in the earlier report</summary>
          <ul>
            {missing.map((each) => (
              <li key={`${each.test} ${variantLabel(each)}`}>
                <code>{each.test}</code> {variantLabel(each)}
                {each.before === undefined ? '' : `, ${verdicts[each.before].name}`}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}
