import type { Artifact } from '../../../../src/protocol/task.ts';
import { Badge } from '../badge.tsx';
import { Button } from '../button.tsx';
import { CopyButton } from '../copy-button.tsx';
import { download } from '../download.ts';
import { partBlob, partFileName, joinTexts } from './part-display.ts';
import { PartsView } from './parts-view.tsx';
import './content.css';

/** Maximum number of parts with a download button. */
const maxSaved = 20;

/** An artifact with download buttons. */
export function ArtifactView({ artifact, isGrowing = false }: { artifact: Artifact; isGrowing?: boolean }) {
  const title = artifact.name ?? 'Artifact';
  const parts = joinTexts(artifact.parts);
  const [first] = parts;
  const saved = parts.filter((part) => !('url' in part)).slice(0, maxSaved);
  return (
    <article class="artifact" aria-label={`Artifact ${title}`}>
      <header class="artifact-bar">
        <div class="artifact-name">
          {title} {artifact.description ? <small>{artifact.description}</small> : null}
          {artifact.name === undefined ? <small>{artifact.artifactId}</small> : null}
        </div>
        {isGrowing ? (
          <Badge tone="blue" dot="beat">
            streaming
          </Badge>
        ) : null}
        {first && 'text' in first && parts.length === 1 ? <CopyButton text={first.text} /> : null}
        {saved.map((part, at) => {
          const name = partFileName(part, saved.length === 1 ? title : `${title}-${at + 1}`);
          return (
            <Button
              key={at}
              small
              kind="quiet"
              aria-label={`Download ${name}`}
              onClick={() => {
                const blob = partBlob(part);
                if (blob) download(blob, name);
              }}
            >
              {saved.length === 1 ? 'Download' : `Download ${at + 1}`}
            </Button>
          );
        })}
      </header>
      <div class="artifact-body">
        <PartsView parts={artifact.parts} title={title} isGrowing={isGrowing} />
      </div>
    </article>
  );
}
