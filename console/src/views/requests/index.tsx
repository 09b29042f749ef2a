import { useLayoutEffect } from 'preact/hooks';
import { Spinner } from '../../components/progress.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { selectedAgent } from '../../session/agents.ts';
import { NoAgent } from '../../session/no-agent.tsx';
import { AnswerPane } from './answer-pane.tsx';
import { CopyActions } from './copy-actions.tsx';
import { Editable } from './editable.tsx';
import { HeadersPane } from './headers-pane.tsx';
import { ModelForm } from './model-form.tsx';
import { ProblemList } from './problem-list.tsx';
import { edited, openTab, sendDraft, startEditor } from './state.ts';
import { TargetBar } from './target-bar.tsx';
import { TextPane } from './text-pane.tsx';
import './requests.css';

const panes = { form: ModelForm, text: TextPane, headers: HeadersPane };

/** The request editor: any operation of any version, sent as written. */
export function RequestsView() {
  // Before the first paint: the page does not show the draft of another agent.
  useLayoutEffect(startEditor, []);
  if (!selectedAgent.value) return <NoAgent title="No agents yet" />;
  const request = edited.value;
  if (!request)
    return (
      <div class="requests-loading">
        <Spinner label="Reading the interfaces of the agent" />
      </div>
    );
  const Pane = panes[openTab.value];
  return (
    <div
      class="requests"
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        void sendDraft();
      }}
    >
      <TargetBar request={request} />
      <div class="requests-panes">
        <section class="requests-compose" aria-label="Request">
          <Editable>
            <Tabs
              label="Parts of the request"
              tabs={[
                { id: 'form', title: 'Form' },
                { id: 'text', title: request.draft.method === 'POST' ? 'Body and members' : 'Members' },
                { id: 'headers', title: `Headers (${request.draft.headers.length})` },
              ]}
              open={openTab.value}
              onOpen={(id) => (openTab.value = id as keyof typeof panes)}
            >
              <Pane request={request} />
            </Tabs>
            <ProblemList losses={request.losses} />
            <CopyActions request={request} />
          </Editable>
        </section>
        <AnswerPane />
      </div>
    </div>
  );
}
