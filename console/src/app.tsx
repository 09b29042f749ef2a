import type { ComponentType } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Button } from './components/button.tsx';
import { AccessDenied } from './session/access-denied.tsx';
import { accessState } from './session/access-state.ts';
import { consoleInfo, selectedAgent, refreshAgents, startSession } from './session/agents.ts';
import { ShortcutsDialog } from './session/shortcuts-dialog.tsx';
import { areShortcutsShown } from './session/shortcuts.ts';
import { routeHref, currentRoute, type View, views } from './session/router.ts';
import { ThemeButton } from './session/theme-button.tsx';
import { AgentsView } from './views/agents/index.tsx';
import { CatalogView } from './views/catalog/index.tsx';
import { ChatView } from './views/chat/index.tsx';
import { ConformanceView } from './views/conformance/index.tsx';
import { LoadView } from './views/load/index.tsx';
import { RequestsView } from './views/requests/index.tsx';
import { TasksView } from './views/tasks/index.tsx';
import { TrafficView } from './views/traffic/index.tsx';
import './app.css';

const pages: { readonly [view in View]: { readonly title: string; readonly Page: ComponentType } } = {
  agents: { title: 'Agents', Page: AgentsView },
  catalog: { title: 'Catalog', Page: CatalogView },
  chat: { title: 'Chat', Page: ChatView },
  requests: { title: 'Requests', Page: RequestsView },
  traffic: { title: 'Traffic', Page: TrafficView },
  tasks: { title: 'Tasks', Page: TasksView },
  conformance: { title: 'Conformance', Page: ConformanceView },
  load: { title: 'Load', Page: LoadView },
};

/** The page: tabs and the selected view. */
export function App() {
  const main = useRef<HTMLElement>(null);
  const { Page, title } = pages[currentRoute.value.view];
  useEffect(() => void startSession(), []);
  useEffect(() => {
    document.title = `${title} · Dragoman console`;
  }, [title]);
  if (accessState.value === 'denied') return <AccessDenied />;
  return (
    <div class="app">
      <div class="skip">
        <Button onClick={() => main.current?.focus()}>Skip to content</Button>
      </div>
      <header class="bar">
        <h1 class="brand">
          <img src="icon.svg" alt="" />
          Dragoman
        </h1>
        <nav aria-label="Views">
          {views.map((view) => (
            <a
              key={view}
              href={routeHref(view, { agent: selectedAgent.value?.id })}
              aria-current={view === currentRoute.value.view ? 'page' : undefined}
            >
              {pages[view].title}
            </a>
          ))}
        </nav>
        <div class="bar-tools">
          <span class="bar-version">{consoleInfo.value?.version}</span>
          <ThemeButton />
          <button
            type="button"
            class="tool"
            aria-label="Keyboard shortcuts"
            title="Keyboard shortcuts (?)"
            onClick={() => (areShortcutsShown.value = true)}
          >
            ?
          </button>
        </div>
      </header>
      {accessState.value === 'gone' ? (
        <div class="gone" role="alert">
          The console server does not respond. Check that it is running.{' '}
          <Button small onClick={() => void refreshAgents().catch(() => undefined)}>
            Retry
          </Button>
        </div>
      ) : null}
      <main ref={main} tabIndex={-1} aria-label={title}>
        <Page />
      </main>
      <ShortcutsDialog />
    </div>
  );
}
