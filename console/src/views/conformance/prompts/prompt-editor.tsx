import { useId } from 'preact/hooks';
import type { TargetOutcome } from '../../../../../src/conformance/prompts/prompt-catalog.ts';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { ErrorNote } from '../../../components/error-note.tsx';
import { FilePicker } from '../../../components/file-picker.tsx';
import { Toggle } from '../../../components/form-fields.tsx';
import { Spinner } from '../../../components/progress.tsx';
import { outcomes, type PromptDraft } from './prompt-drafts.ts';
import {
  drafts,
  editorError,
  isEditorOpen,
  loadedAgent,
  openPromptsFile,
  savePrompts,
  savePromptsFile,
  trials,
  tryPrompt,
} from './state.ts';
import './prompts.css';

const noDraft: PromptDraft = { text: '', isJson: false };

/** Edits the messages that lead an agent to each state. */
export function PromptEditor({ agentId, agentName }: { agentId: string; agentName: string }) {
  const close = (): void => {
    isEditorOpen.value = false;
  };
  return (
    <Dialog title={`Messages for ${agentName}`} isOpen={isEditorOpen.value} onClose={close}>
      {loadedAgent.value === agentId ? (
        <PromptForm agentId={agentId} onSaved={close} />
      ) : (
        <Spinner label="Loading the messages" />
      )}
    </Dialog>
  );
}

function PromptForm({ agentId, onSaved }: { agentId: string; onSaved: () => void }) {
  return (
    <form
      class="prompts"
      onSubmit={(event) => {
        event.preventDefault();
        void savePrompts(agentId).then((isSaved) => isSaved && onSaved());
      }}
    >
      <p class="prompts-help">
        Which message leads the agent to each state? With them, more rules can be decided. Leave a field empty
        if the agent has no such message.
      </p>
      {editorError.value ? <ErrorNote error={editorError.value} /> : null}
      {outcomes.map((each) => (
        <PromptField key={each.outcome} agentId={agentId} {...each} />
      ))}
      <div class="prompts-end">
        <FilePicker
          label="Open file"
          accept=".yaml,.yml,.json"
          onFiles={([file]) => {
            if (file) void openPromptsFile(file);
          }}
        />
        <Button title="For dragoman conformance --prompts" onClick={() => void savePromptsFile()}>
          Save as file
        </Button>
        <Button kind="main" type="submit">
          Save
        </Button>
      </div>
    </form>
  );
}

interface PromptFieldProps {
  agentId: string;
  outcome: TargetOutcome;
  means: string;
}

function PromptField({ agentId, outcome, means }: PromptFieldProps) {
  const id = useId();
  const draft = drafts.value[outcome] ?? noDraft;
  const change = (members: Partial<PromptDraft>): void => {
    drafts.value = { ...drafts.value, [outcome]: { ...draft, ...members } };
  };
  return (
    <div class="prompts-field">
      <label for={id}>
        <b>{outcome}</b> <span id={`${id}-means`}>{means}</span>
      </label>
      <textarea
        id={id}
        class="input"
        aria-describedby={`${id}-means`}
        rows={draft.isJson ? 4 : 1}
        spellcheck={false}
        value={draft.text}
        onInput={(event) => change({ text: event.currentTarget.value })}
      />
      <div class="prompts-actions">
        <Toggle label="JSON" isOn={draft.isJson} onTurn={(isJson) => change({ isJson })} />
        <Button
          small
          kind="quiet"
          aria-label={`Try ${outcome}`}
          disabled={draft.text.trim() === ''}
          onClick={() => void tryPrompt(agentId, outcome)}
        >
          Try
        </Button>
        <span class="prompts-trial" role="status">
          {trials.value[outcome] ?? ''}
        </span>
      </div>
    </div>
  );
}
