import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { Select, TextField } from '../../components/form-fields.tsx';
import { type CredentialsKind, credentialFields, type AgentFormData } from './credentials-form.ts';
import { closeDraft, draft, draftError, isAdding, submitDraft } from './state.ts';

const kinds: readonly { readonly value: CredentialsKind; readonly text: string }[] = [
  { value: 'none', text: 'None' },
  { value: 'bearer', text: 'Bearer token' },
  { value: 'header', text: 'Header, such as an API key' },
  { value: 'basic', text: 'User and password' },
  { value: 'client-credentials', text: 'OAuth 2 client credentials' },
];

/** Dialog for the URL and credentials of a new agent. */
export function AddDialog() {
  return (
    <Dialog title="Add an agent" isOpen={draft.value !== undefined} onClose={closeDraft}>
      {draft.value ? <Form draft={draft.value} /> : null}
    </Dialog>
  );
}

function Form({ draft: form }: { draft: AgentFormData }) {
  const change = (changes: Partial<AgentFormData>) => {
    draft.value = { ...form, ...changes };
  };
  return (
    <form
      class="agents-form"
      onSubmit={(event) => {
        event.preventDefault();
        void submitDraft();
      }}
    >
      <TextField
        label="URL"
        required
        placeholder="localhost:4000"
        hint="Host or URL of the agent, or the URL of its card."
        value={form.url}
        onValue={(url) => change({ url })}
      />
      <Select
        label="Credentials"
        value={form.kind}
        choices={kinds}
        onValue={(kind) => change({ kind: kind as CredentialsKind, fields: {} })}
      />
      {credentialFields[form.kind].map(({ name, label, isSecret, isOptional }) => (
        <TextField
          key={`${form.kind} ${name}`}
          label={isOptional ? `${label} (optional)` : label}
          type={isSecret ? 'password' : 'text'}
          required={!isOptional}
          value={form.fields[name] ?? ''}
          onValue={(value) => change({ fields: { ...form.fields, [name]: value } })}
        />
      ))}
      {form.kind === 'none' ? null : (
        <p class="agents-small">
          Kept in the memory of the console, sent only to this agent, never displayed again.
        </p>
      )}
      {draftError.value ? <ErrorNote error={draftError.value} /> : null}
      <div class="agents-form-end">
        <Button onClick={closeDraft}>Cancel</Button>
        <Button kind="main" type="submit" disabled={isAdding.value}>
          {isAdding.value ? 'Connecting…' : 'Add'}
        </Button>
      </div>
    </form>
  );
}
