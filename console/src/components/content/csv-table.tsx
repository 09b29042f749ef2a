import { useMemo } from 'preact/hooks';
import { parseCsv } from './parse-csv.ts';
import './content.css';

/** The first rows of CSV text as a table. */
export function CsvTable({ text }: { text: string }) {
  const { head, rows, isCut } = useMemo(() => parseCsv(text), [text]);
  return (
    <>
      <div class="content-table" role="region" aria-label="Table" tabIndex={0}>
        <table>
          <thead>
            <tr>
              {head.map((cell, at) => (
                <th key={at} scope="col">
                  {cell}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, at) => (
              <tr key={at}>
                {head.map((_, column) => (
                  <td key={column}>{row[column]}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {isCut ? <div class="content-note">The first {rows.length} rows. Download includes all.</div> : null}
    </>
  );
}
