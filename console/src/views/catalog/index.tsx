import { useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { TextField } from '../../components/form-fields.tsx';
import { Spinner } from '../../components/progress.tsx';
import { CatalogFilters } from './catalog-filters.tsx';
import { CatalogItem } from './catalog-item.tsx';
import { searchCatalog } from './catalog-search.ts';
import { addError, catalog, filter, loadCatalog, openSource, source } from './state.ts';
import './catalog.css';

/** The catalog view: searches the agents of the console, or those in the catalog of a host. */
export function CatalogView() {
  const from = source.value;
  // Before the browser paints, so that the former catalog is never shown as this one.
  useLayoutEffect(() => void loadCatalog(from), [from]);
  return (
    <div class="catalog">
      <SourceForm key={from} from={from} />
      {addError.value ? <ErrorNote error={addError.value} /> : null}
      <Content />
    </div>
  );
}

function SourceForm({ from }: { from: string }) {
  const url = useSignal(from);
  return (
    <form
      class="catalog-source"
      onSubmit={(event) => {
        event.preventDefault();
        const next = url.value.trim();
        if (next === from) void loadCatalog(from);
        else openSource(next);
      }}
    >
      <TextField
        label="Catalog"
        type="search"
        placeholder="agents.example.com"
        hint="Host, or URL of its catalog. Empty: the agents of this console."
        value={url.value}
        onValue={(value) => (url.value = value)}
      />
      <div class="catalog-source-end">
        <Button kind="main" type="submit">
          Load
        </Button>
        {from === '' ? null : <Button onClick={() => openSource('')}>Agents of this console</Button>}
      </div>
    </form>
  );
}

function Content() {
  const { content, error } = catalog.value ?? {};
  if (error) return <ErrorNote error={error} />;
  if (!content) return <Spinner label="Loading the catalog" />;
  const { entries, omitted } = content;
  if (entries.length === 0)
    return (
      <EmptyState title="No agents">
        {source.value === ''
          ? 'Add an agent in the view Agents, or enter the host of a catalog.'
          : 'The catalog lists no A2A agents.'}
      </EmptyState>
    );
  const found = searchCatalog(entries, filter.value);
  return (
    <>
      <CatalogFilters entries={entries} />
      <p class="catalog-count" role="status">
        {found.length} of {entries.length} agents
        {omitted > 0 ? `; ${omitted} more entries are left out` : ''}
      </p>
      {found.length === 0 ? <EmptyState title="No agent matches" /> : null}
      <ul class="catalog-list">
        {found.map((entry) => (
          <CatalogItem key={entries.indexOf(entry)} entry={entry} />
        ))}
      </ul>
    </>
  );
}
