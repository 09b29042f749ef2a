import { formatCountedNoun } from '../../components/format-units.ts';
import { consoleInfo } from '../agents.ts';
import './kept-items.css';

/** States where the server keeps the items, and what it could not read. */
export function SessionPlace() {
  const { sessionFolder } = consoleInfo.value ?? {};
  return (
    <>
      <Notes />
      <p class="kept-note">
        {sessionFolder === undefined ? (
          'Kept in the memory of the console until it stops.'
        ) : (
          <>
            Kept without credentials in <code>{sessionFolder}</code>
          </>
        )}
      </p>
    </>
  );
}

/** The number of kept files that the server could not read or write, with the reasons. */
export function SessionNotes() {
  const { sessionNotes = [] } = consoleInfo.value ?? {};
  if (sessionNotes.length === 0) return null;
  return (
    <details class="kept-notes">
      <summary>{formatCountedNoun(sessionNotes.length, 'note', 'notes')} about kept files</summary>
      <Notes />
    </details>
  );
}

function Notes() {
  const { sessionNotes = [] } = consoleInfo.value ?? {};
  return (
    <>
      {sessionNotes.map((note) => (
        <p key={note} class="kept-note kept-warning" role="status">
          {note}
        </p>
      ))}
    </>
  );
}
