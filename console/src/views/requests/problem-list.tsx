import type { TranslationLoss } from '../../../../src/dialects/translation-loss.ts';
import { LevelBadge } from '../../components/badge.tsx';
import { Losses } from '../traffic/translation-view.tsx';
import type { DraftProblem } from './draft/check-draft.ts';
import { checked, isStored, openTab } from './state.ts';

/** Selects the place of a problem in the text. */
function showProblem({ position }: DraftProblem): void {
  if (!position) return;
  openTab.value = 'text';
  requestAnimationFrame(() => {
    const field = document.querySelector<HTMLTextAreaElement>('.requests-text textarea');
    field?.focus();
    field?.setSelectionRange(position.offset, position.offset + 1);
  });
}

/** What an agent may reject, and what a translation has lost. The request can be sent all the same. */
export function ProblemList({ losses }: { losses: readonly TranslationLoss[] }) {
  const { problems } = checked.value;
  return (
    <div class="requests-problems" role="status" aria-label="Problems">
      {problems.length === 0 ? (
        <p class="requests-valid">Valid, according to the codecs of this version.</p>
      ) : (
        <ul>
          {problems.map((each, at) => (
            <li key={at}>
              <LevelBadge level={each.level} />{' '}
              {each.position ? (
                <button type="button" class="requests-place" onClick={() => showProblem(each)}>
                  Line {each.position.line}, column {each.position.column}
                </button>
              ) : null}{' '}
              <span>{each.message}</span>
            </li>
          ))}
        </ul>
      )}
      <Losses losses={losses} />
      {isStored.value ? null : <p class="requests-note">The draft is too large to survive a reload.</p>}
    </div>
  );
}
