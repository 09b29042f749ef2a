import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { AgentEntry } from '../../../../src/console/console-api.ts';
import type { Part } from '../../../../src/protocol/part.ts';
import { Button } from '../../components/button.tsx';
import { Toggle } from '../../components/form-fields.tsx';
import { FileDrop, FilePicker } from '../../components/file-picker.tsx';
import { formatByteSize } from '../../components/format-units.ts';
import { type Attachment, readFileAttachment, attachmentError } from './attachments.ts';
import type { ChatConversation } from './conversation.ts';
import { abandonQuestion, sendMessage } from './state.ts';

interface ComposerProps {
  agent: AgentEntry;
  conversation: ChatConversation | undefined;
}

/** Parses the JSON data field. */
function readData(text: string): { part?: Part; mistake?: string } {
  if (text.trim() === '') return {};
  try {
    return { part: { data: JSON.parse(text) as unknown } };
  } catch (error) {
    return { mistake: `Invalid JSON: ${error instanceof Error ? error.message : ''}` };
  }
}

/** Composes the next message: text, files and data. */
export function Composer({ agent, conversation }: ComposerProps) {
  const text = useSignal('');
  const files = useSignal<readonly Attachment[]>([]);
  const data = useSignal('');
  const hasData = useSignal(false);
  const mistake = useSignal<string | undefined>(undefined);
  const field = useRef<HTMLTextAreaElement>(null);
  // A question can be answered while its stream is still open.
  const isBusy = conversation?.turns.at(-1)?.isRunning === true && !conversation.waiting;

  const attach = async (more: readonly File[]) => {
    mistake.value = attachmentError(files.value, more);
    if (mistake.value === undefined) {
      files.value = [...files.value, ...(await Promise.all(more.map(readFileAttachment)))];
    }
  };
  const send = () => {
    const given = readData(hasData.value ? data.value : '');
    mistake.value = given.mistake;
    if (given.mistake !== undefined || isBusy) return;
    const parts: Part[] = text.value.trim() === '' ? [] : [{ text: text.value }];
    parts.push(...files.value.map(({ part }) => part));
    if (given.part) parts.push(given.part);
    if (parts.length === 0) return;
    text.value = '';
    files.value = [];
    data.value = '';
    hasData.value = false;
    field.current?.focus();
    void sendMessage(parts);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    send();
  };

  return (
    <FileDrop class="chat-composer" onFiles={(more) => void attach(more)}>
      {conversation?.waiting ? <Bound conversation={conversation} /> : null}
      {files.value.length > 0 ? (
        <ul class="chat-files" aria-label="Files to send">
          {files.value.map((file, at) => (
            <li key={at}>
              {file.name} <small>{formatByteSize(file.size)}</small>
              <button
                type="button"
                aria-label={`Remove ${file.name}`}
                onClick={() => (files.value = files.value.filter((each) => each !== file))}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      ) : null}
      {hasData.value ? (
        <textarea
          class="input input-mono"
          rows={4}
          aria-label="Data (JSON)"
          placeholder='{"any": "JSON"}'
          spellcheck={false}
          value={data.value}
          onInput={(event) => (data.value = event.currentTarget.value)}
        />
      ) : null}
      <textarea
        ref={field}
        class="input chat-text"
        rows={2}
        aria-label="Message"
        placeholder={conversation?.waiting ? 'Your reply' : `Message ${agent.name}`}
        value={text.value}
        onInput={(event) => (text.value = event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      {mistake.value === undefined ? null : (
        <div class="chat-mistake" role="alert">
          {mistake.value}
        </div>
      )}
      <div class="chat-send">
        <FilePicker label="Attach" multiple onFiles={(more) => void attach(more)} />
        <Toggle label="Data" isOn={hasData.value} onTurn={(isOn) => (hasData.value = isOn)} />
        <span class="chat-hint">Enter: send, Shift + Enter: new line</span>
        <Button kind="main" disabled={isBusy} onClick={send}>
          {conversation?.waiting ? 'Reply' : 'Send'}
        </Button>
      </div>
    </FileDrop>
  );
}

/** States that the next message replies to a question. */
function Bound({ conversation }: { conversation: ChatConversation }) {
  const isAuth = conversation.waiting?.status.state === 'auth-required';
  return (
    <div class="chat-bound">
      <span>
        {isAuth
          ? 'Follow the instructions of the agent, then send a message to continue its task.'
          : 'This message replies to the question and continues its task.'}
      </span>
      <Button small kind="quiet" onClick={() => abandonQuestion(conversation)}>
        Start a new task instead
      </Button>
    </div>
  );
}
