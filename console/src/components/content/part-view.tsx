import { useMemo } from 'preact/hooks';
import type { Part } from '../../../../src/protocol/part.ts';
import { CopyButton } from '../copy-button.tsx';
import { JsonView } from '../json-view.tsx';
import { SafeLink } from '../links/safe-link.tsx';
import { formatByteSize } from '../format-units.ts';
import { CsvTable } from './csv-table.tsx';
import { type PartDisplay, choosePartDisplay } from './part-display.ts';
import { ImageView } from './image-view.tsx';
import { PlainText } from './plain-text.tsx';
import './content.css';

interface PartViewProps {
  part: Part;
  title?: string;
  /** True while more content is expected. */
  isGrowing?: boolean;
}

/** Renders one part of a message or artifact. */
export function PartView({ part, title, isGrowing = false }: PartViewProps) {
  const form = useMemo(() => choosePartDisplay(part), [part]);
  return (
    <div class="content">
      {part.filename !== undefined && part.filename !== title && !('url' in part) ? (
        <div class="content-note">{part.filename}</div>
      ) : null}
      <PartContent form={form} name={part.filename ?? 'image'} isGrowing={isGrowing} />
    </div>
  );
}

function PartContent({ form, name, isGrowing }: { form: PartDisplay; name: string; isGrowing: boolean }) {
  switch (form.kind) {
    case 'text':
      return <PlainText text={form.text} isGrowing={isGrowing} />;
    case 'csv':
      return <CsvTable text={form.text} />;
    case 'json':
      return <JsonView value={form.value} />;
    case 'image':
      return <ImageView bytes={form.bytes} mediaType={form.mediaType} name={name} />;
    case 'link':
      return (
        <div class="content-text">
          <SafeLink href={form.url} /> <CopyButton text={form.url} />
        </div>
      );
    case 'bytes':
      return <div class="content-note">{formatByteSize(form.bytes.length)} of binary data</div>;
  }
}
