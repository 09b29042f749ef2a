import { redactedPlaceholder } from '../../../../src/primitives/redaction/redaction.ts';
import { Button } from '../../components/button.tsx';
import { TextField, Toggle } from '../../components/form-fields.tsx';
import { selectedAgent } from '../../session/agents.ts';
import type { EditedRequest, HeaderField } from './draft/request-draft.ts';
import { changeDraft } from './state.ts';

/** All headers of the request, and whether credentials are added. */
export function HeadersPane({ request: { draft } }: { request: EditedRequest }) {
  const { headers, hasCredentials } = draft;
  const replace = (at: number, change: Partial<HeaderField>) =>
    changeDraft({ headers: headers.map((each, index) => (index === at ? { ...each, ...change } : each)) });
  const known = selectedAgent.value?.hasCredentials ?? false;
  return (
    <div class="requests-form">
      <Toggle
        label="Add the credentials of the console"
        isOn={hasCredentials}
        onTurn={(isOn) => changeDraft({ hasCredentials: isOn })}
      />
      <p class="requests-note">
        {known
          ? 'The console has credentials for this agent. A header that you write has precedence.'
          : 'The console has no credentials for this agent. Enter them on the Agents page.'}{' '}
        A value of <code>{redactedPlaceholder}</code> is never sent: it stands for a secret.
      </p>
      <ul class="requests-headers">
        {headers.map(({ name, value }, at) => (
          <li key={at}>
            <TextField
              label={`Name of header ${at + 1}`}
              isLabelHidden
              value={name}
              onValue={(next) => replace(at, { name: next })}
            />
            <TextField
              label={`Value of header ${at + 1}`}
              isLabelHidden
              value={value}
              onValue={(next) => replace(at, { value: next })}
            />
            <Button
              small
              kind="quiet"
              aria-label={`Remove header ${name}`}
              onClick={() => changeDraft({ headers: headers.filter((_, index) => index !== at) })}
            >
              ✕
            </Button>
          </li>
        ))}
      </ul>
      <div>
        <Button small onClick={() => changeDraft({ headers: [...headers, { name: '', value: '' }] })}>
          Add header
        </Button>
      </div>
    </div>
  );
}
