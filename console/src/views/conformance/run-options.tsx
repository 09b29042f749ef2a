import { Dialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/form-fields.tsx';
import { type DraftName, draftError, optionDrafts } from './run-option-drafts.ts';

const fields: readonly {
  readonly name: DraftName;
  readonly label: string;
  readonly placeholder: string;
  readonly hint: string;
  readonly type?: 'number' | 'password';
}[] = [
  { name: 'maxTime', label: 'Time limit of the run (seconds)', placeholder: '600', hint: '', type: 'number' },
  { name: 'maxMessages', label: 'Maximum number of messages', placeholder: '2000', hint: '', type: 'number' },
  {
    name: 'otherUser',
    label: 'Header of another user',
    placeholder: 'Authorization: Bearer …',
    hint: 'For rules about the isolation of users. It is kept in memory only.',
    type: 'password',
  },
  {
    name: 'restrictedUser',
    label: 'Header of a user who may not send messages',
    placeholder: 'Authorization: Bearer …',
    hint: 'For rules about permissions. It is kept in memory only.',
    type: 'password',
  },
  {
    name: 'webhookUrl',
    label: 'Webhook URL',
    placeholder: 'https://tests.example.com',
    hint: 'URL under which the agent reaches the webhook of the tests, if it rejects this machine.',
  },
];

/** Options that few runs need. */
export function RunOptions({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Dialog title="More options" isOpen={isOpen} onClose={onClose}>
      <div class="conformance-options">
        {fields.map(({ name, hint, ...field }) => (
          <TextField
            key={name}
            {...field}
            value={optionDrafts.value[name]}
            onValue={(value) => (optionDrafts.value = { ...optionDrafts.value, [name]: value })}
            hint={draftError(name, optionDrafts.value[name]) ?? (hint === '' ? undefined : hint)}
          />
        ))}
      </div>
    </Dialog>
  );
}
