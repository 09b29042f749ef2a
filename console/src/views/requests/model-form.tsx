import { useEffect } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { dialectOfVariant } from '../../../../src/dialects/http/operation-request.ts';
import type { AgentCard } from '../../../../src/protocol/card.ts';
import type { Part } from '../../../../src/protocol/part.ts';
import { Button } from '../../components/button.tsx';
import { Select, TextArea, TextField, Toggle } from '../../components/form-fields.tsx';
import { cards, loadCards } from '../agents/state.ts';
import { type FormField, formSections, type FormSection, valueInModel } from './draft/form-table.ts';
import { type EditedRequest, type OperationModel, withHeader } from './draft/request-draft.ts';
import { PartsField } from './parts-field.tsx';
import { changeDraft, changeValue, edited, resetDraft } from './state.ts';

/** The request as a form; its changes are written into the text. */
export function ModelForm({ request }: { request: EditedRequest }) {
  const { draft, model } = request;
  const { agentId, operation, version } = draft;
  useEffect(() => void loadCards(agentId), [agentId]);
  if (!model)
    return (
      <div class="requests-form">
        <p class="requests-note" role="status">
          The text is not a valid request, so that the form cannot show it. Correct the text, or start again.
        </p>
        <div>
          <Button small onClick={resetDraft}>
            Start again
          </Button>
        </div>
      </div>
    );
  const known = cards.value?.agentId === agentId ? cards.value.cards?.cards : undefined;
  const card = known?.find((each) => each.card)?.card;
  const sections = formSections(operation, version);
  const isMessage = operation === 'send' || operation === 'stream';
  return (
    <div class="requests-form">
      {isMessage && card ? <Skills card={card} model={model} /> : null}
      {sections.map((section) => (
        <Section key={`${operation} ${section.title}`} section={section} model={model} />
      ))}
      {sections.length === 0 ? <p class="requests-note">The operation has no parameters.</p> : null}
      {isMessage && card ? <Extensions card={card} request={request} model={model} /> : null}
    </div>
  );
}

function Section({
  section: { title, fields, isOpen },
  model,
}: {
  section: FormSection;
  model: OperationModel;
}) {
  const hasValue = fields.some(({ path }) => valueInModel(model, path) !== undefined);
  return (
    <details class="requests-section" open={isOpen || hasValue}>
      <summary>{title}</summary>
      <div class="requests-fields">
        {fields.map((field) => (
          <Field key={field.path} field={field} value={valueInModel(model, field.path)} />
        ))}
      </div>
    </details>
  );
}

function Field({ field, value }: { field: FormField; value: unknown }) {
  const { path, label, kind, hint, choices = [] } = field;
  const shown = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  switch (kind) {
    case 'text':
      return (
        <TextField
          label={label}
          hint={hint}
          value={shown}
          onValue={(text) => changeValue(path, text === '' && !isRequired(path) ? undefined : text)}
        />
      );
    case 'number':
      return (
        <TextField
          label={label}
          hint={hint}
          type="number"
          value={shown}
          onValue={(text) => changeValue(path, text === '' ? undefined : Number(text))}
        />
      );
    case 'boolean':
      return (
        <Toggle
          label={label}
          isOn={value === true}
          onTurn={(isOn) => changeValue(path, isOn ? true : undefined)}
        />
      );
    case 'choice':
      return (
        <Select
          label={label}
          value={shown}
          onValue={(text) => changeValue(path, text === '' ? undefined : text)}
          choices={[{ value: '', text: 'any' }, ...choices.map((each) => ({ value: each, text: each }))]}
        />
      );
    case 'names':
      return <NamesField label={label} hint={hint} path={path} value={value} />;
    case 'json':
      return <JsonField label={label} path={path} value={value} />;
    case 'parts':
      return (
        <PartsField
          parts={(Array.isArray(value) ? value : []) as readonly Part[]}
          onParts={(parts) => changeValue(path, parts)}
        />
      );
    case 'message-id':
      return (
        <div class="requests-id">
          <TextField label={label} value={shown} onValue={(text) => changeValue(path, text)} />
          <Button small onClick={() => changeValue(path, crypto.randomUUID())}>
            New
          </Button>
        </div>
      );
  }
}

/** Ids that a request must have stay empty texts, so that the problem is shown at them. */
function isRequired(path: string): boolean {
  return path === 'id' || path === 'taskId' || path === 'url';
}

function NamesField({
  label,
  hint,
  path,
  value,
}: {
  label: string;
  hint?: string | undefined;
  path: string;
  value: unknown;
}) {
  const text = useSignal<string | undefined>(undefined);
  const parse = (input: string): string[] =>
    input
      .split(',')
      .map((each) => each.trim())
      .filter((each) => each !== '');
  const names = Array.isArray(value) ? (value as string[]) : [];
  // A comma at the end is not in the model yet.
  const isSame = text.value !== undefined && parse(text.value).join() === names.join();
  return (
    <TextField
      label={label}
      hint={hint}
      value={isSame ? (text.value ?? '') : names.join(', ')}
      onValue={(input) => {
        text.value = input;
        const next = parse(input);
        changeValue(path, next.length === 0 ? undefined : next);
      }}
    />
  );
}

function JsonField({ label, path, value }: { label: string; path: string; value: unknown }) {
  const text = useSignal<string | undefined>(undefined);
  const mistake = useSignal<string | undefined>(undefined);
  const written = value === undefined ? '' : JSON.stringify(value, undefined, 2);
  const isSame = text.value !== undefined && (mistake.value !== undefined || isEqualJson(text.value, value));
  return (
    <TextArea
      label={label}
      isMono
      placeholder="{}"
      mistake={mistake.value}
      value={isSame ? (text.value ?? '') : written}
      onValue={(input) => {
        text.value = input;
        try {
          changeValue(path, input.trim() === '' ? undefined : (JSON.parse(input) as unknown));
          mistake.value = undefined;
        } catch (error) {
          mistake.value = `Not used, because it is not JSON: ${error instanceof Error ? error.message : ''}`;
        }
      }}
    />
  );
}

function isEqualJson(text: string, value: unknown): boolean {
  try {
    return JSON.stringify(text.trim() === '' ? undefined : JSON.parse(text)) === JSON.stringify(value);
  } catch {
    return false;
  }
}

/** Maximum number of offered examples. */
const maxExamples = 8;

/** Selects the skill that the message names, and one of its examples. */
function Skills({ card, model }: { card: AgentCard; model: OperationModel }) {
  const skills = card.skills.slice(0, 100);
  const named = valueInModel(model, 'message.metadata.skillId');
  const skill = skills.find(({ id }) => id === named);
  const examples = [...new Set((skill ? [skill] : skills).flatMap((each) => each.examples ?? []))].slice(
    0,
    maxExamples,
  );
  if (skills.length === 0) return null;
  return (
    <div class="requests-skills">
      <Select
        label="Skill"
        value={typeof named === 'string' ? named : ''}
        onValue={(id) => changeValue('message.metadata.skillId', id === '' ? undefined : id)}
        choices={[
          { value: '', text: 'not named' },
          ...skills.map(({ id, name }) => ({ value: id, text: name === '' ? id : name })),
        ]}
      />
      {examples.length === 0 ? null : (
        <div class="requests-examples" role="group" aria-label="Examples">
          {examples.map((example) => (
            <Button key={example} small onClick={() => changeValue('message.parts', [{ text: example }])}>
              {example.length > 60 ? `${example.slice(0, 60)}…` : example}
            </Button>
          ))}
        </div>
      )}
    </div>
  );
}

/** Activates extensions of the card: in the header, and in the message. */
function Extensions({
  card,
  request: { draft },
  model,
}: {
  card: AgentCard;
  request: EditedRequest;
  model: OperationModel;
}) {
  const header = dialectOfVariant(draft)?.extensionsHeader;
  const offered = (card.capabilities.extensions ?? []).slice(0, 50);
  if (offered.length === 0 || header === undefined) return null;
  const value = valueInModel(model, 'message.extensions');
  const active = Array.isArray(value) ? (value as string[]) : [];
  const turn = (uri: string, isOn: boolean) => {
    const next = isOn ? [...active, uri] : active.filter((each) => each !== uri);
    changeValue('message.extensions', next.length === 0 ? undefined : next);
    const { headers } = withHeader(edited.peek()?.draft ?? draft, header, next.join(','));
    changeDraft({ headers });
  };
  return (
    <details class="requests-section" open>
      <summary>Extensions</summary>
      <div class="requests-fields">
        {offered.map(({ uri, required }) => (
          <Toggle
            key={uri}
            label={required ? `${uri} (required)` : uri}
            isOn={active.includes(uri)}
            onTurn={(isOn) => turn(uri, isOn)}
          />
        ))}
      </div>
    </details>
  );
}
