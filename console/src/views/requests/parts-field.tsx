import { useSignal } from '@preact/signals';
import { contentKind, type Part, type PartContent } from '../../../../src/protocol/part.ts';
import { Button } from '../../components/button.tsx';
import { FileDrop, FilePicker } from '../../components/file-picker.tsx';
import { TextArea, TextField } from '../../components/form-fields.tsx';
import { formatByteSize } from '../../components/format-units.ts';
import { attachmentError, readFileAttachment } from '../chat/attachments.ts';

const kindNames: { readonly [kind in PartContent]: string } = {
  text: 'Text',
  data: 'Data (JSON)',
  url: 'Link to a file',
  raw: 'File',
};

const emptyParts: { readonly [kind in 'text' | 'data' | 'url']: Part } = {
  text: { text: '' },
  data: { data: {} },
  url: { url: 'https://example.com/file.txt', mediaType: 'text/plain' },
};

/** The parts of a message: texts, data and files. */
export function PartsField({
  parts,
  onParts,
}: {
  parts: readonly Part[];
  onParts: (parts: readonly Part[]) => void;
}) {
  const mistake = useSignal<string | undefined>(undefined);
  const attach = async (files: readonly File[]) => {
    const there = parts.flatMap((each) => ('raw' in each ? [{ size: sizeOf(each.raw) }] : []));
    mistake.value = attachmentError(there, files);
    if (mistake.value !== undefined) return;
    const added = await Promise.all(files.map(readFileAttachment));
    // An empty text before the first file says nothing.
    const kept = parts.filter((each) => !('text' in each && each.text === ''));
    onParts([...kept, ...added.map(({ part }) => part)]);
  };
  const replace = (at: number, part: Part) =>
    onParts(parts.map((each, index) => (index === at ? part : each)));
  return (
    <FileDrop class="requests-parts" onFiles={(files) => void attach(files)}>
      {parts.map((part, at) => (
        <div class="requests-part" key={`${at} ${contentKind(part)}`}>
          <PartField
            part={part}
            label={`Part ${at + 1}: ${kindNames[contentKind(part)]}`}
            onPart={(next) => replace(at, next)}
          />
          <Button
            small
            kind="quiet"
            aria-label={`Remove part ${at + 1}`}
            onClick={() => onParts(parts.filter((_, index) => index !== at))}
          >
            ✕
          </Button>
        </div>
      ))}
      {mistake.value === undefined ? null : (
        <p class="field-mistake" role="alert">
          {mistake.value}
        </p>
      )}
      <div class="requests-add">
        {(['text', 'data', 'url'] as const).map((kind) => (
          <Button key={kind} small onClick={() => onParts([...parts, emptyParts[kind]])}>
            Add {kind === 'url' ? 'link' : kind}
          </Button>
        ))}
        <FilePicker label="Attach" multiple onFiles={(files) => void attach(files)} />
      </div>
    </FileDrop>
  );
}

function PartField({ part, label, onPart }: { part: Part; label: string; onPart: (part: Part) => void }) {
  if ('text' in part)
    return <TextArea label={label} value={part.text} onValue={(text) => onPart({ ...part, text })} />;
  if ('data' in part)
    return <DataField label={label} value={part.data} onData={(data) => onPart({ ...part, data })} />;
  if ('url' in part)
    return <TextField label={label} value={part.url} onValue={(url) => onPart({ ...part, url })} />;
  return (
    <div class="field">
      <span class="field-label">{label}</span>
      <span class="requests-file">
        {part.filename ?? 'without a name'}, {part.mediaType ?? 'no media type'},{' '}
        {formatByteSize(sizeOf(part.raw))}
      </span>
    </div>
  );
}

function DataField({
  label,
  value,
  onData,
}: {
  label: string;
  value: unknown;
  onData: (data: unknown) => void;
}) {
  const text = useSignal(JSON.stringify(value, undefined, 2));
  const mistake = useSignal<string | undefined>(undefined);
  return (
    <TextArea
      label={label}
      isMono
      mistake={mistake.value}
      value={text.value}
      onValue={(input) => {
        text.value = input;
        try {
          onData(JSON.parse(input));
          mistake.value = undefined;
        } catch (error) {
          mistake.value = `Not used, because it is not JSON: ${error instanceof Error ? error.message : ''}`;
        }
      }}
    />
  );
}

/** Bytes of base64 text. */
function sizeOf(base64: string): number {
  return Math.floor((base64.length * 3) / 4);
}
